import type { OperatorAccess } from '@ratatosk/http'
import type { OperatorOptions } from '@ratatosk/operator'
import type { DeadLetter, DeadLetters } from '@ratatosk/operator/dead-letters'
import type { SubmissionQueue } from '@ratatosk/queue'
import type { RejectionSummary, Store } from '@ratatosk/store'
import { replayDeadLetter } from '@ratatosk/workers'
import { present } from '../context.js'
import type { Node } from '../node.js'
import type { Settings } from '../settings/schema.js'
import type { Work } from '../work/start-work.js'

/** Who may reach the operator's routes. */
export function operatorAccess({ HOST, PUBLIC_HOSTS = [], OPERATOR_TOKEN }: Settings): OperatorAccess {
  return {
    allowedHosts: [HOST, ...PUBLIC_HOSTS],
    ...(OPERATOR_TOKEN !== undefined && { operatorToken: OPERATOR_TOKEN }),
  }
}

/** An `api` node serves `/commit` only. */
export function operatorOptions(node: Node): OperatorOptions {
  const { settings, duties, store } = node
  return {
    ...operatorAccess(settings),
    operations: { run: operationRunner(node) },
    ...(duties.serves.includes('operations')
      ? { blocks: store.blocks, globals: { snapshot: () => globalsOf(node) } }
      : { serve: ['commit'] }),
  }
}

type Run = Work['operations']['run']
type ResultKind = Awaited<ReturnType<Run>>['kind']

/** Results of operations that changed layer 1. */
const changesLayer1: ReadonlySet<ResultKind> = new Set<ResultKind>([
  'initiated',
  'committed',
  'merged',
  'repaired',
  'reset',
  'removed',
  'registered',
  'retired',
  'released',
])

/** Runs operations, and forgets shared reads of layer 1 that an operation has made obsolete. */
export function operationRunner({ operations, settlement }: Node): Run {
  const { reads } = present(settlement, 'layer 1')
  return async (operation, details) => {
    const result = await operations.run(operation, details)
    // Only what changed layer 1: otherwise requests could keep the shared reads from being shared.
    if (changesLayer1.has(result.kind)) reads.forget()
    return result
  }
}

/** The in-memory state of this process, for `/logGlobals`; without secrets. */
function globalsOf({ settings: { NODE_ROLE, NETWORK }, validation, sequencer }: Node) {
  const { rss, heapUsed } = process.memoryUsage()
  return {
    role: NODE_ROLE,
    network: NETWORK,
    pid: process.pid,
    uptimeSeconds: Math.round(process.uptime()),
    memoryBytes: { resident: rss, heap: heapUsed },
    validation: validation?.stats() ?? null,
    sequencer: sequencer?.snapshot() ?? null,
  }
}

/** The store's dead letters, which are replayed through the queue. */
export function deadLettersOf(
  store: Pick<Store, 'rejections'>,
  submissions: Pick<SubmissionQueue, 'add'>,
): DeadLetters {
  const { rejections } = store
  return {
    list: async (page) =>
      (await rejections.list(page)).map((rejection) => ({
        ...letterOf(rejection),
        sequence: rejection.sequence,
      })),
    async find(submissionId) {
      const rejection = await rejections.find(submissionId)
      return rejection && { ...letterOf(rejection), ...(rejection.cbor && { cbor: rejection.cbor }) }
    },
    async replay(submissionId) {
      const id = await replayDeadLetter(submissionId, { store, submissions })
      if (id !== undefined) return { id }
      return (await rejections.find(submissionId)) === undefined ? 'not-found' : 'dropped'
    },
    drop: (submissionId) => rejections.remove(submissionId),
  }
}

function letterOf(rejection: RejectionSummary): DeadLetter {
  const { submissionId, digest, transactionId, code, message, details, attempts, count } = rejection
  const { submittedAt, rejectedAt, replayed } = rejection
  return {
    digest,
    submissionId,
    ...(transactionId && { transactionId }),
    code,
    message,
    details,
    attempts,
    count,
    submittedAt,
    rejectedAt,
    ...(replayed && { replayedAs: replayed.submissionId }),
  }
}
