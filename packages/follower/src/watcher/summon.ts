import { equalBytes } from '@ratatosk/cbor'
import { decodeTransaction, effects, outputReferenceKey } from '@ratatosk/ledger'
import { isWalletError } from '@ratatosk/ledger/builder'
import { type OpenQuestion, readQuestions, type StateQueue } from '@ratatosk/protocol'
import type { VerdictRecord } from '@ratatosk/store'
import { ask, isAsked, termOf } from './ask.js'
import type { Missing, WatcherContext } from './context.js'
import { followQuestions } from './questions.js'
import { elementsOf } from './read-layer1.js'
import type { Summon, SummonResult } from './types.js'
import { chunkQuestion, mostAtOnce, recordUnavailable } from './unavailable.js'

/** Summonses that wait for their turn. */
const mostWaiting = 16

/** A summons that waits for its turn between two reads of layer 1. */
interface WaitingSummon {
  readonly summon: Summon
  readonly signal: AbortSignal | undefined
  readonly resolve: (result: SummonResult | Promise<SummonResult>) => void
  readonly reject: (reason: unknown) => void
}

export function createSummonsLine() {
  const line: WaitingSummon[] = []
  return {
    add: (summon: Summon, signal?: AbortSignal): Promise<SummonResult> =>
      line.length < mostWaiting
        ? new Promise((resolve, reject) => line.push({ summon, signal, resolve, reject }))
        : Promise.resolve({ kind: 'busy' }),
    isEmpty: () => line.length === 0,
    /** Takes the first one whose client still waits. */
    next(): WaitingSummon | undefined {
      for (let next = line.shift(); next !== undefined; next = line.shift()) {
        if (next.signal?.aborted !== true) return next
        next.reject(next.signal.reason)
      }
      return undefined
    },
    refuse(reason: string): void {
      for (const { resolve } of line.splice(0)) resolve({ kind: 'refused', reason })
    },
    /** Ends those that wait. */
    fail(error: unknown): void {
      for (const { reject } of line.splice(0)) reject(error)
    },
  }
}

interface AskedBlock {
  readonly queue: StateQueue
  readonly missing: Missing | undefined
  readonly known: VerdictRecord | undefined
  questions(block: Missing): Promise<readonly OpenQuestion[]>
}

/** Asks for a chunk of an unavailable block; recorded first. Undefined if neither refused nor sent. */
export async function summonChunk(
  context: WatcherContext,
  { headerHash, chunk }: Summon,
  { queue, missing, known, questions }: AskedBlock,
  slot: bigint,
): Promise<SummonResult | undefined> {
  const elements = elementsOf(queue, headerHash)
  if (elements === undefined) return { kind: 'absent' }
  if (missing === undefined || missing.transactions !== undefined)
    return refused('Not missing: this node has the body of the block, or has not asked its peers yet')
  const { block, book } = missing
  const term = await termOf(context, block.header, slot)
  const wanted = chunkQuestion(block.header.transactionsRoot, chunk)
  const open = await questions(missing)
  const waiting = await followQuestions(context, book, known, open, slot)
  if (book.chunks.has(chunk) || isAsked(waiting, wanted, term)) return refused('Already asked')
  if (!term.isInTime) return refused('Too late: a question would end too late for a removal')
  if (waiting.own >= mostAtOnce)
    return refused(`Too many: ${mostAtOnce} questions about the block wait for their answers`)
  if (known === undefined || !missing.isRecorded) await recordUnavailable(context, missing, elements.before)
  const sent = await ask(context, block, [wanted], term, slot).catch((error: unknown) => {
    if (isWalletError(error)) return error.message
    throw error
  })
  if (typeof sent === 'string') return refused(`Not sent: ${sent}`)
  if (sent === undefined) return undefined
  const [asked] = readQuestions(context.contracts, effects(decodeTransaction(sent.cbor)).produced)
  if (asked === undefined) throw new TypeError('The transaction has no question')
  return {
    kind: 'asked',
    question: outputReferenceKey(asked.utxo.reference),
    transactionId: sent.id,
    deadline: asked.question.deadline,
  }
}

const refused = (reason: string): SummonResult => ({ kind: 'refused', reason })

/** The verdict about a block, if it is recorded. */
export const verdictAbout = (
  verdicts: readonly VerdictRecord[],
  wanted: Uint8Array,
): VerdictRecord | undefined => verdicts.find(({ headerHash }) => equalBytes(headerHash, wanted))
