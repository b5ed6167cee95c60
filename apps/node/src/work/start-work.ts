import type { Evidence } from '@ratatosk/block'
import type { Follower } from '@ratatosk/follower'
import type { Roots } from '@ratatosk/roots'
import { createOperations, type Operations, type Sequencer } from '@ratatosk/sequencer'
import type { Watcher } from '@ratatosk/watcher'
import type { ValidationWorker } from '@ratatosk/workers'
import type { NodeContext } from '../context.js'
import type { Settlement } from '../layer1/settlement.js'
import { watches } from '../roles.js'
import type { Storage } from '../storage/open-storage.js'
import { startFollower } from './follower.js'
import { startSequencer } from './sequencer.js'
import type { RootsCalls } from './timed-roots.js'
import { startValidation } from './validation.js'
import { openWatcher } from './watcher.js'

/** What a process runs beside its server; undefined for what its role does not run. */
export interface Work {
  readonly validation: ValidationWorker | undefined
  readonly sequencer: Sequencer | undefined
  /** The roots of this process's blocks. */
  readonly roots: Roots | undefined
  /** How long their calls have taken. */
  readonly rootsCalls: (() => readonly RootsCalls[]) | undefined
  readonly follower: Follower | undefined
  /** Invalid blocks that the follower has found. */
  readonly evidence: Evidence | undefined
  /** Removes them by fraud proofs. */
  readonly watcher: Watcher | undefined
  /** Runs operator operations on the active sequencer, in this process or another. */
  readonly operations: Operations
}

/** Starts the workers of the node's role. */
export async function startWork(
  context: NodeContext,
  storage: Storage,
  settlement: Settlement | undefined,
): Promise<Work> {
  const { settings, duties, server } = context
  const validation = duties.validates ? await startValidation(context, storage) : undefined
  const { sequencer, roots, rootsCalls } =
    settlement && duties.sequences ? await startSequencer(context, storage, settlement) : {}
  const watcher = settlement && watches(settings) ? openWatcher(context, storage, settlement) : undefined
  const { follower, evidence } =
    settlement && duties.bodies === 'archive'
      ? await startFollower(context, storage, settlement, watcher)
      : {}
  const operations = createOperations({
    queue: storage.queue,
    timeoutMs: settings.OPERATION_TIMEOUT_MS,
    intervalMs: settings.OPERATION_INTERVAL_MS,
    ...(sequencer && { sequencer }),
  })
  context.onClose(() => operations.close())
  // The server waits for requests, and requests that wait for an operation end when both are closed.
  server.addHook('preClose', (done) => {
    for (const part of [operations, sequencer]) part?.close().catch(() => undefined)
    done()
  })
  return { validation, sequencer, roots, rootsCalls, follower, evidence, watcher, operations }
}
