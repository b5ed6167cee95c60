import type { RegistryDatum } from '../../datum/registry.js'
import { type Breach, breach } from '../breach.js'
import { init as initQueue } from '../queue/scenarios.js'
import type { TestTransaction } from '../transaction.js'
import { ada, foreignPolicy, foreignScript, operator, rootName, wallet } from '../world.js'
import { changeBreaches } from './change-breaches.js'
import { signedBy } from './edits.js'
import { change, entry, running, stopped } from './scenarios.js'

const foreignRoot = (quantity: bigint) => ({ policy: foreignPolicy, name: rootName, quantity })

/** Mints or burns a root of a queue that the registry does not name. */
const besideForeignRoot = (transaction: TestTransaction, quantity: bigint): TestTransaction => ({
  ...transaction,
  outputs: [transaction.outputs[0]!, wallet(ada(1500), quantity > 0n ? [foreignRoot(quantity)] : [])],
  mint: [foreignRoot(quantity)],
  nativeScripts: [foreignScript],
})

/** The registry of a queue whose policy mints anything: what an administrator could start with. */
const ofForeign = (datum: RegistryDatum): RegistryDatum => ({ ...datum, queue: foreignPolicy })

const starts = { kind: 'set-queue', running: true } as const

const ends = { kind: 'set-queue', running: false } as const

export const setQueueBreaches: readonly Breach[] = [
  ...changeBreaches('set-queue', initQueue),
  breach('set-queue-by-administrator', 'an operator signs instead of the administrator', (world) =>
    signedBy(initQueue(world), operator.hash),
  ),
  breach('set-queue-changes', 'the queue starts while it runs: a second root', (world) => {
    const datum = ofForeign(running(world, entry(operator)))
    return besideForeignRoot(change(world, starts, datum, datum), 1n)
  }),
  breach('set-queue-changes', 'the queue ends while it does not run', (world) => {
    const datum = ofForeign(stopped(world, entry(operator)))
    return besideForeignRoot(change(world, ends, datum, datum), -1n)
  }),
  breach('set-queue-with-root', 'the queue starts without a root', (world) =>
    change(world, starts, stopped(world, entry(operator)), running(world, entry(operator))),
  ),
  breach('set-queue-with-root', 'the root of another queue is minted', (world) =>
    besideForeignRoot(
      change(world, starts, stopped(world, entry(operator)), running(world, entry(operator))),
      1n,
    ),
  ),
  breach('set-queue-with-root', 'the queue ends while its root exists', (world) =>
    change(world, ends, running(world, entry(operator)), stopped(world, entry(operator))),
  ),
  breach('set-queue-with-root', 'the queue ends while a root is minted', (world) =>
    besideForeignRoot(
      change(
        world,
        ends,
        ofForeign(running(world, entry(operator))),
        ofForeign(stopped(world, entry(operator))),
      ),
      1n,
    ),
  ),
  breach('set-queue-continues-datum', 'the administrator has another queue slash from now on', (world) =>
    besideForeignRoot(
      change(world, starts, ofForeign(stopped(world, entry(operator))), running(world, entry(operator))),
      1n,
    ),
  ),
]
