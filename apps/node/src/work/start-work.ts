import type { Forwarder } from '@ratatosk/follower/forwarder'
import { createOperations, type Operations, type Sequencer } from '@ratatosk/sequencer'
import type { Roots } from '@ratatosk/sequencer/roots'
import type { Settler } from '@ratatosk/sequencer/settler'
import type { ValidationWorker } from '@ratatosk/workers'
import type { NodeContext } from '../context.js'
import type { Settlement } from '../layer1/settlement.js'
import { cachesOutputs } from '../roles.js'
import { cacheDirectory, type Storage } from '../storage/open-storage.js'
import { type Following, startFollowing } from './following.js'
import { startForwarder } from './forwarder.js'
import { startSequencer, warnStandby } from './sequencer.js'
import { startSettler } from './settler.js'
import type { RootsCalls } from './timed-roots.js'
import { startValidation } from './validation.js'

/** The work of a process beside its server; undefined for work that its role does not have. */
export interface Work {
  readonly validation: ValidationWorker | undefined
  readonly sequencer: Sequencer | undefined
  readonly roots: Roots | undefined
  readonly rootsCalls: (() => readonly RootsCalls[]) | undefined
  /** Pays withdrawals; undefined without a bridge. */
  readonly settler: Settler | undefined
  readonly forwarder: Forwarder | undefined
  /** Follows the blocks of layer 1, and removes invalid ones where it watches. */
  readonly following: Following | undefined
  /** Runs operator operations on the active sequencer, in this process or another. */
  readonly operations: Operations
}

export async function startWork(
  context: NodeContext,
  storage: Storage,
  settlement: Settlement | undefined,
): Promise<Work> {
  const { settings, duties, server } = context
  const directory = cachesOutputs(duties) ? await cacheDirectory(context, storage) : undefined
  const validation = duties.validates ? await startValidation(context, storage) : undefined
  const sequencing =
    settlement && duties.sequences
      ? await startSequencer(context, storage, settlement, directory, validation)
      : undefined
  const { sequencer, roots, rootsCalls } = sequencing ?? {}
  if (settlement && sequencer) warnStandby(context, settlement, sequencer)
  const settler =
    settlement &&
    sequencing &&
    (await startSettler(context, storage, settlement, sequencing, settings.AUTO_PAY !== false))
  const forwarder = settlement && sequencer && startForwarder(context, storage, settlement, sequencer)
  const following = settlement && (await startFollowing(context, storage, settlement, directory))
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
  return { validation, sequencer, roots, rootsCalls, settler, forwarder, following, operations }
}
