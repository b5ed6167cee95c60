import { types } from 'node:util'
import { toHex } from '@ratatosk/cbor'
import type {
  PlacedBlock,
  PlacedTransactions,
  QueuedSubmissions,
  RejectedSubmission,
  RejectedSubmissions,
  RemovedTransaction,
  RemovedTransactions,
  TransactionPlace,
  WaitingSubmission,
} from '@ratatosk/ports'
import type { SubmissionStatusAnswer, TransactionStatusAnswer } from './schemas.js'

// A port in JavaScript may return other values. Each check throws a `TypeError` with the port and the field.

const wrong = (field: string, expected: string): TypeError => new TypeError(`${field} must be ${expected}`)

/** @param field such as `queue.find: submittedAt` */
function timeOf(value: unknown, field: string): string {
  if (types.isDate(value) && !Number.isNaN(value.getTime())) return value.toISOString()
  throw wrong(field, 'a Date')
}

function hexOf(value: unknown, field: string): string {
  if (types.isUint8Array(value)) return toHex(value)
  throw wrong(field, 'a Uint8Array')
}

function textOf(value: unknown, field: string): string {
  if (typeof value === 'string') return value
  throw wrong(field, 'a string')
}

function integerOf(value: unknown, field: string): number {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return Number(value)
  throw wrong(field, 'an integer')
}

function oneOf<Text extends string>(value: Text, texts: readonly Text[], field: string): Text {
  if (texts.includes(value)) return value
  throw wrong(field, `one of ${texts.join(', ')}`)
}

function arrayOf<Item>(value: readonly Item[], field: string): readonly Item[] {
  if (Array.isArray(value)) return value
  throw wrong(field, 'an array')
}

/** The sources of statuses. */
export interface StatusSources {
  readonly ledger: PlacedTransactions
  readonly rejections: RejectedSubmissions
  readonly queue: QueuedSubmissions
  /** Without it, a transaction that a removal took out of the ledger is `unknown`. */
  readonly removals?: RemovedTransactions
  /** From a block's end until it may be merged, in milliseconds. */
  readonly maturityWindowMs?: number
}

type Progress = Omit<TransactionStatusAnswer, 'txHash'>

const blockStates: readonly PlacedBlock['state'][] = ['built', 'submitted', 'committed', 'mature', 'merged']
const waitingStates: readonly WaitingSubmission['state'][] = ['queued', 'validating']

/** A port in JavaScript may return null for undefined. */
const maybe = <T>(value: T): NonNullable<T> | undefined => value ?? undefined

/**
 * The status of a transaction. The queue is read before the store is read again, and decides only if nothing
 * else is known, or the transaction was submitted again after a rejection.
 */
export async function statusOfTransaction(
  sources: StatusSources,
  transactionId: Uint8Array,
): Promise<TransactionStatusAnswer> {
  const txHash = toHex(transactionId)
  const place = maybe(await sources.ledger.placeOf(transactionId))
  if (place !== undefined) return { txHash, ...placed(place, sources) }
  const queued = maybe(await sources.queue.findTransaction(transactionId))
  return { txHash, ...(await withoutPlace(sources, transactionId, queued)) }
}

/**
 * The statuses of some transactions, in their order. The ledger is asked for all of them at once, and so is
 * the queue for the others, because searches that run at once share its scans. The rest is read one by one,
 * until the signal is aborted.
 */
export async function statusesOfTransactions(
  sources: StatusSources,
  transactionIds: readonly Uint8Array[],
  signal: AbortSignal,
): Promise<TransactionStatusAnswer[]> {
  signal.throwIfAborted()
  const places = arrayOf(await sources.ledger.placesOf(transactionIds), 'ledger.placesOf: the result')
  if (places.length !== transactionIds.length)
    throw new TypeError('ledger.placesOf: the result must have an entry for each transaction')
  const queued = await Promise.all(
    transactionIds.map((id, n) => (places[n] ? undefined : sources.queue.findTransaction(id))),
  )
  const statuses: TransactionStatusAnswer[] = []
  for (const [n, id] of transactionIds.entries()) {
    signal.throwIfAborted()
    const place = places[n]
    const progress = place
      ? placed(place, sources, 'ledger.placesOf')
      : await withoutPlace(sources, id, maybe(queued[n]))
    statuses.push({ txHash: toHex(id), ...progress })
  }
  return statuses
}

async function withoutPlace(
  sources: StatusSources,
  transactionId: Uint8Array,
  queued: WaitingSubmission | undefined,
): Promise<Progress> {
  const progress = await progressOf(sources, transactionId)
  const isNewer =
    queued !== undefined &&
    (progress.status === 'unknown' ||
      (progress.rejection !== undefined &&
        progress.rejection.rejectedAt < timeOf(queued.submittedAt, 'queue.findTransaction: submittedAt')))
  return isNewer ? waiting(queued, 'queue.findTransaction') : progress
}

/**
 * The status of a submission. The queue is read first: it removes a submission when its result is stored, so
 * a submission that has left the queue is found in the store.
 */
export async function statusOfSubmission(
  sources: StatusSources,
  id: string,
): Promise<SubmissionStatusAnswer> {
  const queued = maybe(await sources.queue.find(id))
  const rejection = maybe(await sources.rejections.find(id))
  const transactionId = queued?.transactionId ?? rejection?.transactionId
  const finder = queued?.transactionId ? 'queue.find' : 'rejections.find'
  const named = { id, ...(transactionId && { txHash: hexOf(transactionId, `${finder}: transactionId`) }) }
  if (rejection?.reopenedAt !== undefined && transactionId) {
    return { ...named, ...(await statusOfTransaction(sources, transactionId)) }
  }
  if (rejection !== undefined) return { ...named, ...rejected(rejection, 'rejections.find') }
  if (queued === undefined) return { ...named, status: 'unknown' }
  const place = transactionId && maybe(await sources.ledger.placeOf(transactionId))
  if (place !== undefined) return { ...named, ...placed(place, sources) }
  if (queued.state !== 'left') return { ...named, ...waiting(queued, 'queue.find') }
  // Accepted and dropped later, or never issued, or forgotten.
  return { ...named, ...(transactionId ? await progressOf(sources, transactionId) : { status: 'unknown' }) }
}

/** The ledger goes first: a rejected transaction may have been accepted later. */
async function progressOf(sources: StatusSources, transactionId: Uint8Array): Promise<Progress> {
  const place = maybe(await sources.ledger.placeOf(transactionId))
  if (place !== undefined) return placed(place, sources)
  const rejection = maybe(await sources.rejections.findTransaction(transactionId))
  const removals = (await sources.removals?.ofTransaction(transactionId)) ?? []
  const [removal] = arrayOf(removals, 'removals.ofTransaction: the result')
  // Removed transactions are validated again, and may be rejected then.
  if (removal !== undefined && (rejection === undefined || rejection.rejectedAt < removal.removedAt)) {
    return removed(removal)
  }
  return rejection === undefined ? { status: 'unknown' } : rejected(rejection)
}

/** @param port that found it, for an error */
function waiting({ state, submittedAt, attempts }: WaitingSubmission, port: string): Progress {
  return {
    status: oneOf(state, waitingStates, `${port}: state`),
    submittedAt: timeOf(submittedAt, `${port}: submittedAt`),
    attempts: integerOf(attempts, `${port}: attempts`),
  }
}

function placed(
  { acceptedAt: time, block, position = 0 }: TransactionPlace,
  { maturityWindowMs }: Pick<StatusSources, 'maturityWindowMs'>,
  port = 'ledger.placeOf',
): Progress {
  const acceptedAt = timeOf(time, `${port}: acceptedAt`)
  if (block === undefined) return { status: 'mempool', acceptedAt }
  const endTime = integerOf(block.endTime, `${port}: block.endTime`)
  return {
    status: oneOf(block.state, blockStates, `${port}: block.state`),
    acceptedAt,
    block: {
      height: integerOf(block.height, `${port}: block.height`),
      headerHash: hexOf(block.headerHash, `${port}: block.headerHash`),
      position: integerOf(position, `${port}: position`),
      ...(block.commitTransactionId && {
        commitTxHash: hexOf(block.commitTransactionId, `${port}: block.commitTransactionId`),
      }),
      ...(block.mergeTransactionId && {
        mergeTxHash: hexOf(block.mergeTransactionId, `${port}: block.mergeTransactionId`),
      }),
      endTime: new Date(endTime).toISOString(),
      ...(maturityWindowMs !== undefined && {
        maturesAt: new Date(endTime + maturityWindowMs).toISOString(),
      }),
    },
  }
}

function removed({ block, removedAt, submissionId }: RemovedTransaction): Progress {
  const port = 'removals.ofTransaction'
  return {
    status: 'removed',
    removal: {
      ...(block && {
        height: integerOf(block.height, `${port}: block.height`),
        headerHash: hexOf(block.headerHash, `${port}: block.headerHash`),
      }),
      removedAt: timeOf(removedAt, `${port}: removedAt`),
      ...(submissionId !== undefined && { resubmittedAs: submissionId }),
    },
  }
}

function rejected(rejection: RejectedSubmission, port = 'rejections.findTransaction'): Progress {
  const { code, message, details, attempts, count, submittedAt, firstRejectedAt, rejectedAt } = rejection
  return {
    status: 'rejected',
    rejection: {
      code: textOf(code, `${port}: code`),
      reason: textOf(message, `${port}: message`),
      failures: isFailureList(details) ? details : [{ predicate: code, message, details }],
      attempts: integerOf(attempts, `${port}: attempts`),
      count: integerOf(count, `${port}: count`),
      submittedAt: timeOf(submittedAt, `${port}: submittedAt`),
      firstRejectedAt: timeOf(firstRejectedAt, `${port}: firstRejectedAt`),
      rejectedAt: timeOf(rejectedAt, `${port}: rejectedAt`),
    },
  }
}

type Failure = NonNullable<TransactionStatusAnswer['rejection']>['failures'][number]

/** False if the details were too long to be kept, or come from a rejection without predicates. */
function isFailureList(details: unknown): details is Failure[] {
  return Array.isArray(details) && details.length > 0 && details.every(isFailure)
}

function isFailure(value: unknown): value is Failure {
  return (
    typeof value === 'object' &&
    value !== null &&
    'predicate' in value &&
    typeof value.predicate === 'string' &&
    'message' in value &&
    typeof value.message === 'string'
  )
}
