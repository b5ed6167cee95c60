import { createSubmissionQueue, defaultLockMs, submissionQueueName } from '@ratatosk/queue'
import { chain, fundsOf, keyOf } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import { allRejections, isAccepted, run } from './test/running-worker.js'
import { openers } from './test/services.js'

const ada = 1_000_000n

test.for(Object.entries(openers))(
  'those that need the outputs of what a killed worker held are not rejected (%s)',
  { timeout: 60_000 },
  async ([, open], context) => {
    const services = await open(context)
    const { store, queue } = services
    const key = keyOf(5)
    const [fund] = fundsOf(key, 1, 10n * ada)
    await store.applyGenesis([fund!])
    const [parent, ...children] = chain(key, fund!.reference, 10n * ada, 5)
    const submissions = createSubmissionQueue(queue)
    await submissions.add(parent!.cbor)
    let isTaken = false
    // A killed process renews no lock.
    const times = { lockDuration: defaultLockMs, stalledInterval: defaultLockMs / 3 }
    const options = { ...times, lockRenewTime: 600_000, concurrency: 1 }
    const killed = queue.worker(
      submissionQueueName,
      () => {
        isTaken = true
        return new Promise<void>(() => undefined)
      },
      options,
    )
    await expect.poll(() => isTaken, { timeout: 10_000 }).toBe(true)
    for (const { cbor } of children) await submissions.add(cbor)
    await killed.close(true)
    run(services)
    await expect.poll(() => isAccepted(store, children.at(-1)!), { timeout: 30_000 }).toBe(true)
    expect(await allRejections(store)).toEqual([])
  },
)
