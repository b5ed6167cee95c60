import {
  createSubmissionQueue,
  openQueueBackend,
  type QueueBackend,
  type SubmissionQueue,
} from '@ratatosk/queue'
import { openStore, type Rejection, type Store } from '@ratatosk/store'
import { collect, freeOfCharge, slots } from '@ratatosk/test-kit'
import { type OpenedServices, serviceOpeners } from '@ratatosk/test-kit/vitest'
import { expect, onTestFinished } from 'vitest'
import { createValidationWorker, type ValidationWorker, type ValidationWorkerOptions } from '../index.js'

export type Services = OpenedServices<Store, QueueBackend>

export const openers = serviceOpeners({ openStore, openQueueBackend })

export interface RunningWorker extends Services {
  readonly worker: ValidationWorker
  readonly submissions: SubmissionQueue
  submit(transactions: readonly { readonly cbor: Uint8Array }[]): Promise<string[]>
  drained(): Promise<void>
}

/** A worker over the services, closed after the test. */
export function run(services: Services, options: Partial<ValidationWorkerOptions> = {}): RunningWorker {
  const { store, queue } = services
  const worker = createValidationWorker({
    queue,
    store,
    parameters: freeOfCharge,
    networkId: 0,
    slots,
    ...options,
  })
  onTestFinished(() => worker.close())
  const submissions = createSubmissionQueue(queue)
  return {
    ...services,
    worker,
    submissions,
    submit: (transactions) => Promise.all(transactions.map(({ cbor }) => submissions.add(cbor))),
    drained: () => drained(submissions),
  }
}

export async function drained(submissions: SubmissionQueue, timeout = 100_000): Promise<void> {
  await expect
    .poll(() => submissions.jobs.getJobCountByTypes('waiting', 'active', 'delayed', 'failed'), {
      timeout,
      interval: 25,
    })
    .toBe(0)
}

/** How many transactions the jobs in this state hold. */
export async function transactionsIn(
  { jobs }: SubmissionQueue,
  state: 'waiting' | 'active' | 'delayed',
): Promise<number> {
  return (await jobs.getJobs([state])).reduce((sum, { data }) => sum + data.length, 0)
}

export async function isAccepted(store: Store, { id }: { readonly id: string }): Promise<boolean> {
  return (await store.transaction(Buffer.from(id, 'hex'))) !== undefined
}

export async function countAccepted(
  store: Store,
  transactions: readonly { readonly id: string }[],
): Promise<number> {
  let count = 0
  for (const transaction of transactions) if (await isAccepted(store, transaction)) count++
  return count
}

/** Every transaction of an address, oldest first. A transaction that was applied twice would appear twice. */
export async function historyOf(store: Store, address: Uint8Array): Promise<Uint8Array[]> {
  return collect(store.historyPages(address, { limit: 100_000, offset: 0 }))
}

export async function allRejections(store: Store): Promise<Rejection[]> {
  const all: Rejection[] = []
  for (;;) {
    const before = all.at(-1)?.sequence
    const page = await store.rejections.list({ limit: 1000, ...(before === undefined ? {} : { before }) })
    all.push(...page)
    if (page.length < 1000) return all
  }
}

export function shuffled<T>(items: readonly T[], seed = 1): T[] {
  const result = [...items]
  let state = seed
  for (let last = result.length - 1; last > 0; last--) {
    // A linear congruential generator, so that every run has the same order.
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    const other = state % (last + 1)
    const swapped = result[last] as T
    result[last] = result[other] as T
    result[other] = swapped
  }
  return result
}
