import { isDecodeError, toHex } from '@ratatosk/cbor'
import type { SubmitResult } from '@ratatosk/chain-apis'
import { retryAfterMsOf } from '@ratatosk/http'
import {
  blake2b256,
  decodeTransaction,
  type Failures,
  type Json,
  type PredicateFailure,
  type Transaction,
} from '@ratatosk/ledger'
import type { Rejection, Store } from '@ratatosk/store'
import type { Logger } from 'pino'

/** Options of {@link createSubmissions}. */
export interface SubmissionsOptions {
  /** The queue that `POST /submit` uses. */
  readonly queue: { add(cbor: Uint8Array): Promise<string> }
  readonly store: {
    readonly ledger: Pick<Store['ledger'], 'known'>
    readonly rejections: Pick<Store['rejections'], 'rejected' | 'find'>
  }
  /** The largest accepted transaction, in bytes of CBOR. */
  readonly maxTransactionSize: number
  /** How long a submission waits for its verdict, in milliseconds. */
  readonly timeoutMs: number
  readonly log: Pick<Logger, 'warn'>
}

/** Submits transactions and waits for their verdicts. */
export interface Submissions {
  /** Never rejects. */
  submit(cbor: Uint8Array): Promise<SubmitResult>
  /** Answers everything that waits with `undecided`. */
  close(): void
}

interface Waiting {
  readonly transaction: Transaction
  /** Identifies the submitted bytes. */
  readonly key: string
  readonly submissionId: string
  readonly until: number
  settle(result: SubmitResult): void
}

/** Milliseconds between two looks for verdicts. A look is two queries, however many submissions wait. */
const lookEveryMs = 25
/** The most submissions of one look. */
const perLook = 1_000
/** When a client may repeat what is undecided, in milliseconds. */
const retryAfterMs = 1_000
/**
 * How long a submission is expected to be judged, in milliseconds. Who repeats it later than that puts it
 * into the queue again.
 */
const unjudgedMs = 60_000
/** The most submissions that are remembered. */
const maxUnjudged = 100_000

/**
 * Puts transactions into the queue and waits until validation, in this process or another, has accepted or
 * rejected them. A verdict is read from the store, so it is durable when the client learns it.
 */
export function createSubmissions(options: SubmissionsOptions): Submissions {
  const { queue, store, maxTransactionSize, timeoutMs, log } = options
  const waiting = new Set<Waiting>()
  // Whoever repeats a submission waits for its verdict. Otherwise each repetition would join the end of the
  // queue, and a client would never learn a verdict that takes longer than it waits.
  const unjudged = new Map<string, { readonly submissionId: string; readonly since: number }>()
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function lookLater(): void {
    if (timer !== undefined || closed) return
    timer = setTimeout(async () => {
      await look().catch((err: unknown) =>
        log.warn({ err }, 'Failed to look for verdicts of submissions; trying again'),
      )
      timer = undefined
      if (waiting.size > 0) lookLater()
    }, lookEveryMs)
  }

  async function look(): Promise<void> {
    const all = [...waiting]
    for (let start = 0; start < all.length; start += perLook) {
      const part = all.slice(start, start + perLook)
      try {
        await lookFor(part)
      } finally {
        const now = Date.now()
        for (const each of part) if (each.until <= now) end(each, undecided())
      }
    }
  }

  async function lookFor(part: readonly Waiting[]): Promise<void> {
    const known = await store.ledger.known(part.map(({ transaction }) => transaction.id))
    const accepted = part.filter((_, position) => known[position])
    for (const each of accepted) end(each, { kind: 'accepted', hash: toHex(each.transaction.id) })
    const left = part.filter((_, position) => !known[position])
    const rejected = new Set(await store.rejections.rejected(left.map(({ submissionId }) => submissionId)))
    for (const each of left) {
      if (!rejected.has(each.submissionId)) continue
      const rejection = await store.rejections.find(each.submissionId)
      if (rejection !== undefined) end(each, rejectedResult(each.transaction, failuresOf(rejection)))
    }
  }

  function end(each: Waiting, result: SubmitResult): void {
    if (result.kind !== 'undecided') unjudged.delete(each.key)
    if (waiting.delete(each)) each.settle(result)
  }

  function unjudgedSubmission(key: string): string | undefined {
    const known = unjudged.get(key)
    return known !== undefined && Date.now() - known.since < unjudgedMs ? known.submissionId : undefined
  }

  function remember(key: string, submissionId: string): void {
    // Last, because the oldest is forgotten first.
    unjudged.delete(key)
    unjudged.set(key, { submissionId, since: Date.now() })
    const [oldest] = unjudged.size > maxUnjudged ? unjudged.keys() : []
    if (oldest !== undefined) unjudged.delete(oldest)
  }

  return {
    async submit(bytes) {
      // A decoded transaction keeps views of its bytes.
      const cbor = Uint8Array.from(bytes)
      const transaction = readTransaction(cbor)
      if (typeof transaction === 'string') return { kind: 'malformed', message: transaction }
      if (cbor.length > maxTransactionSize) return rejectedResult(transaction, [tooLarge(cbor.length)])
      if (closed) return undecided()
      const key = toHex(blake2b256(cbor))
      let submissionId: string
      try {
        submissionId = unjudgedSubmission(key) ?? (await queue.add(cbor))
      } catch (err) {
        log.warn({ err }, 'The queue did not confirm a submission')
        return undecided('The queue did not confirm the transaction', retryAfterMsOf(err))
      }
      if (unjudgedSubmission(key) === undefined) remember(key, submissionId)
      return new Promise((settle) => {
        waiting.add({ transaction, key, submissionId, until: Date.now() + timeoutMs, settle })
        lookLater()
      })
    },
    close() {
      closed = true
      clearTimeout(timer)
      for (const each of [...waiting]) end(each, undecided())
    },
  }

  function tooLarge(size: number): PredicateFailure {
    return {
      predicate: 'MaxTxSizeUTxO',
      message: `The transaction has ${size} bytes, at most ${maxTransactionSize} are allowed`,
      details: { size, maximum: maxTransactionSize },
    }
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

function rejectedResult(transaction: Transaction, failures: Failures): SubmitResult {
  return { kind: 'rejected', hash: toHex(transaction.id), transaction, failures }
}

function undecided(reason = 'The transaction is not judged yet', afterMs = retryAfterMs): SubmitResult {
  return {
    kind: 'undecided',
    message: `${reason}. Submit it again: it takes effect once. Or look it up by its id.`,
    retryAfterMs: afterMs,
  }
}

/**
 * The failed predicates of a dead letter. Of details that were too long to be kept, the beginning names
 * predicates.
 */
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
