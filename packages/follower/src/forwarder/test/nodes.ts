import { createSubmissionQueue, openQueueBackend } from '@ratatosk/queue'
import { openStore, type Store } from '@ratatosk/store'
import submit from '@ratatosk/submit'
import txStatus from '@ratatosk/submit/status'
import { freeOfCharge, fundsOf, keyOf, type SignedTransaction, slots } from '@ratatosk/test-kit'
import { serviceOpeners } from '@ratatosk/test-kit/vitest'
import { createValidationWorker } from '@ratatosk/workers'
import fastify from 'fastify'
import { onTestFinished, type TestContext } from 'vitest'
import { createForwarder, type Forwarder, type ForwarderOptions } from '../create-forwarder.js'

export const user = keyOf(5)
export const lovelace = 400_000_000n
export const funds = fundsOf(user, 100, lovelace)

const openers = serviceOpeners({ openStore, openQueueBackend })

/** A ledger of its own, which takes transactions over HTTP and validates them. */
export interface TestNode {
  readonly store: Store
  readonly url: string
  /** Requests of other nodes so far: submissions, and questions for a status. */
  readonly asked: { submit: number; status: number }
  /** Submits to this node's own queue. */
  accept(transactions: readonly SignedTransaction[]): Promise<void>
  /** How many of the transactions it has accepted. */
  count(transactions: readonly SignedTransaction[]): Promise<number>
}

export async function openNode(
  context: TestContext,
  name: keyof typeof openers = 'PostgreSQL and Redis',
): Promise<TestNode> {
  const { store, queue } = await openers[name](context)
  await store.applyGenesis(funds)
  const worker = createValidationWorker({ queue, store, parameters: freeOfCharge, networkId: 0, slots })
  context.onTestFinished(() => worker.close())
  const submissions = createSubmissionQueue(queue)
  const asked = { submit: 0, status: 0 }
  const server = fastify({ forceCloseConnections: true })
  context.onTestFinished(() => server.close())
  server.addHook('onRequest', async ({ method }) => void asked[method === 'POST' ? 'submit' : 'status']++)
  await server.register(submit, { queue: submissions })
  const findTransaction = (id: Uint8Array) => submissions.findTransaction(id)
  await server.register(txStatus, {
    ledger: store,
    rejections: store.rejections,
    queue: { find: async () => undefined, findTransaction },
  })
  const idOf = ({ id }: SignedTransaction) => Buffer.from(id, 'hex')
  return {
    store,
    asked,
    url: await server.listen({ host: '127.0.0.1', port: 0 }),
    async accept(transactions) {
      for (const { cbor } of transactions) await submissions.add(cbor)
    },
    async count(transactions) {
      const known = await store.ledger.known(transactions.map(idOf))
      return known.filter(Boolean).length
    },
  }
}

/** A forwarder that is quick to repeat, until the test ends. */
export function forward(
  { store }: Pick<TestNode, 'store'>,
  peers: readonly string[],
  options: Partial<ForwarderOptions> = {},
): Forwarder & { readonly warnings: readonly { readonly reason?: string; readonly message: string }[] } {
  const warnings: { message: string }[] = []
  const warn = (fields: object, message: string) => void warnings.push({ ...fields, message })
  const forwarder = createForwarder({
    mempool: store.blocks,
    peers,
    isNeeded: () => true,
    log: { info: () => undefined, warn, error: warn },
    pollMs: 10,
    repeatMs: 100,
    backoffMs: 10,
    ...options,
  })
  onTestFinished(() => forwarder.close())
  return { ...forwarder, warnings }
}
