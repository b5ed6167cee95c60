import { isDecodeError, toHex } from '@ratatosk/cbor'
import type { SubmitResult } from '@ratatosk/chain-apis'
import {
  blake2b256,
  decodeTransaction,
  type Failures,
  type Json,
  type PredicateFailure,
  type Transaction,
} from '@ratatosk/ledger'
import type { Log } from '@ratatosk/ports'
import { isQueueError, type SubmissionQueue } from '@ratatosk/queue'
import type { Rejection, Store } from '@ratatosk/store'

/** Where submissions go, and where their results are read. */
export interface SubmissionsOptions {
  /** The queue that `POST /submit` uses. */
  readonly queue: Pick<SubmissionQueue, 'add'>
  readonly store: {
    readonly ledger: Pick<Store['ledger'], 'known'>
    readonly rejections: Pick<Store['rejections'], 'rejected' | 'find'>
  }
  /** Maximum size of a transaction, in bytes of CBOR. */
  readonly maxTransactionSize: number
  /** How long a submission waits for its result, in milliseconds. */
  readonly submitTimeoutMs: number
  readonly log: Pick<Log, 'warn'>
}

interface Submissions {
  /** Never rejects. */
  submit(cbor: Uint8Array): Promise<SubmitResult>
  /** Answers `undecided` to every submission that waits. */
  close(): void
}

interface Waiting {
  readonly transaction: Transaction
  /** Hash of the submitted bytes. */
  readonly key: string
  readonly submissionId: string
  readonly until: number
  settle(result: SubmitResult): void
}

/** Poll interval in milliseconds. A poll takes two queries, however many submissions wait. */
const pollMs = 25
/** Maximum number of submissions in one query. */
const batchSize = 1_000
/** When a client may repeat an undecided submission, in milliseconds. */
const retryAfterMs = 1_000
/** Milliseconds for which a repeated submission joins the pending one; later it is enqueued again. */
const pendingMs = 60_000
/** Maximum number of pending submissions that are remembered. */
const maxPending = 100_000

/** Enqueues transactions and waits until they are decided. Results are from the store: durable. */
export function createSubmissions(options: SubmissionsOptions): Submissions {
  const { queue, store, maxTransactionSize, submitTimeoutMs, log } = options
  const waiting = new Set<Waiting>()
  // A repeated submission waits for the pending result. If each repeat were enqueued, a client would never
  // receive a result that takes longer than its requests wait.
  const pending = new Map<string, { readonly submissionId: string; readonly since: number }>()
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function schedulePoll(): void {
    if (timer !== undefined || closed) return
    timer = setTimeout(async () => {
      await poll().catch((err: unknown) =>
        log.warn({ err }, 'Failed to read the results of submissions; trying again'),
      )
      timer = undefined
      if (waiting.size > 0) schedulePoll()
    }, pollMs)
  }

  async function poll(): Promise<void> {
    const all = [...waiting]
    for (let start = 0; start < all.length; start += batchSize) {
      const batch = all.slice(start, start + batchSize)
      try {
        await readResults(batch)
      } finally {
        const now = Date.now()
        for (const each of batch) if (each.until <= now) end(each, undecided())
      }
    }
  }

  async function readResults(batch: readonly Waiting[]): Promise<void> {
    const known = await store.ledger.known(batch.map(({ transaction }) => transaction.id))
    const accepted = batch.filter((_, position) => known[position])
    for (const each of accepted) end(each, { kind: 'accepted', hash: toHex(each.transaction.id) })
    const left = batch.filter((_, position) => !known[position])
    const rejected = new Set(await store.rejections.rejected(left.map(({ submissionId }) => submissionId)))
    for (const each of left) {
      if (!rejected.has(each.submissionId)) continue
      const rejection = await store.rejections.find(each.submissionId)
      if (rejection !== undefined) end(each, rejectedResult(each.transaction, failuresOf(rejection)))
    }
  }

  function end(each: Waiting, result: SubmitResult): void {
    if (result.kind !== 'undecided') pending.delete(each.key)
    if (waiting.delete(each)) each.settle(result)
  }

  function pendingSubmission(key: string): string | undefined {
    const known = pending.get(key)
    return known !== undefined && Date.now() - known.since < pendingMs ? known.submissionId : undefined
  }

  function remember(key: string, submissionId: string): void {
    // Moves the key to the end: the first key is the oldest and is forgotten first.
    pending.delete(key)
    pending.set(key, { submissionId, since: Date.now() })
    const [oldest] = pending.size > maxPending ? pending.keys() : []
    if (oldest !== undefined) pending.delete(oldest)
  }

  return {
    async submit(bytes) {
      // A decoded transaction keeps views of its bytes.
      const cbor = Uint8Array.from(bytes)
      const transaction = readTransaction(cbor)
      if (typeof transaction === 'string') return { kind: 'malformed', message: transaction }
      if (cbor.length > maxTransactionSize)
        return rejectedResult(transaction, [tooLarge(cbor.length, maxTransactionSize)])
      if (closed) return undecided()
      const key = toHex(blake2b256(cbor))
      let submissionId: string
      try {
        submissionId = pendingSubmission(key) ?? (await queue.add(cbor))
      } catch (err) {
        log.warn({ err }, 'The queue did not confirm a submission')
        const afterMs = isQueueError(err) ? err.retryAfterMs : undefined
        return undecided('The queue did not confirm the transaction', afterMs)
      }
      if (pendingSubmission(key) === undefined) remember(key, submissionId)
      return new Promise((settle) => {
        waiting.add({ transaction, key, submissionId, until: Date.now() + submitTimeoutMs, settle })
        schedulePoll()
      })
    },
    close() {
      closed = true
      clearTimeout(timer)
      for (const each of [...waiting]) end(each, undecided())
    },
  }
}

/** The transaction, or the reason why the bytes do not decode. */
export function readTransaction(cbor: Uint8Array): Transaction | string {
  try {
    return decodeTransaction(cbor)
  } catch (error) {
    if (isDecodeError(error)) return error.message
    throw error
  }
}

function tooLarge(size: number, maximum: number): PredicateFailure {
  return {
    predicate: 'MaxTxSizeUTxO',
    message: `The transaction has ${size} bytes, at most ${maximum} are allowed`,
    details: { size, maximum },
  }
}

function rejectedResult(transaction: Transaction, failures: Failures): SubmitResult {
  return { kind: 'rejected', hash: toHex(transaction.id), transaction, failures }
}

function undecided(reason = 'The transaction is not validated yet', afterMs = retryAfterMs): SubmitResult {
  return {
    kind: 'undecided',
    message: `${reason}. Submit it again: it takes effect once. Or look it up by its id.`,
    retryAfterMs: afterMs,
  }
}

/** The failed predicates of a dead letter. Details too long to keep still begin with predicates. */
function failuresOf({ code, message, details }: Rejection): Failures {
  const listed = Array.isArray(details) ? details.flatMap(readFailure) : []
  if (listed.length > 0) return listed
  const first: PredicateFailure = { predicate: code, message, details: {} }
  const beginning = isJsonObject(details) ? details.beginning : undefined
  if (typeof beginning !== 'string') return [first]
  const others = Array.from(beginning.matchAll(/"predicate":"(\w+)"/g), ([, name = '']) => name)
  return [
    first,
    ...others
      .filter((name) => name !== code)
      .map((predicate) => ({ predicate, message: 'See the dead letter of this transaction', details: {} })),
  ]
}

function readFailure(json: Json): PredicateFailure[] {
  if (!isJsonObject(json) || typeof json.predicate !== 'string') return []
  const details = isJsonObject(json.details) ? json.details : {}
  return [{ predicate: json.predicate, message: String(json.message ?? ''), details }]
}

function isJsonObject(json: Json | undefined): json is { readonly [key: string]: Json } {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}
