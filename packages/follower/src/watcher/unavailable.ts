import { chunkKey, encodeHeader, headerFieldIndex, maxChunks } from '@ratatosk/block'
import { concatBytes, equalBytes, toHex } from '@ratatosk/cbor'
import type { SummonsQuestion } from '@ratatosk/contracts'
import { blake2b256, decodeTransaction, effects, outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import { isWalletError } from '@ratatosk/ledger/builder'
import { mostInAsking, type OpenQuestion, readQuestions, type StateQueue } from '@ratatosk/protocol'
import { chunkCountOf, transactionsInChunk } from '@ratatosk/protocol/fraud'
import type { VerdictRecord } from '@ratatosk/store'
import {
  ask,
  askAll,
  expireOverdue,
  isAsked,
  type QuestionTerm,
  reliesOnAsked,
  termOf,
  type WantedQuestion,
} from './ask.js'
import {
  chunkNumberOf,
  type Missing,
  type QuestionBook,
  type StuckBlock,
  subjectOf,
  type WatcherContext,
} from './context.js'
import { type Allowance, followQuestions, takeBehind, type Waiting } from './questions.js'
import { elementsOf, readVerdicts } from './read-layer1.js'
import { removeByVerdict } from './remove.js'
import { follow, removalsOf } from './send.js'
import type { Summon, SummonResult } from './types.js'

/** Own questions about a block that wait for answers at once: about all of its chunks. */
const mostAtOnce = maxChunks
/**
 * Questions that are asked at once while others wait, if as many are wanted: one answer after another would
 * free one question after another, which costs ten times as much in a transaction of its own.
 */
export const leastAtOnce = mostInAsking / 2
/** Own questions that may wait for a block of layer 1: other watchers see them, and ask for the rest. */
export const mostPending = (unasked: number): number =>
  Math.min(mostInAsking, Math.max(leastAtOnce, Math.ceil(unasked / 4)))
/** Share of the patience in which this process has missed the body too: a peer may just have started. */
const ownShare = 10n
const reason = 'No peer serves its body'

/** An unavailable block as layer 1 shows it. */
interface MissingSight {
  readonly queue: StateQueue
  readonly known: VerdictRecord | undefined
  /** The questions about it. */
  readonly open: readonly OpenQuestion[]
  readonly slot: bigint
  /** Of all such blocks, from the oldest on. */
  readonly allowance: Allowance
  /** Whether an older block is unavailable too. */
  readonly isBehind: boolean
}

/**
 * Takes the next step about an unavailable block: asks for it by chunks, and removes it at silence.
 *
 * @returns whether it is on its way out of the queue
 */
export async function advanceUnavailable(
  context: WatcherContext,
  missing: Missing,
  sight: MissingSight,
): Promise<boolean> {
  const { queue, known, slot } = sight
  const { headerHash, header } = missing.block
  if (missing.transactions !== undefined) return false
  const elements = elementsOf(queue, headerHash)
  // The provider shows an older queue than to the follower, or the block is gone.
  if (elements === undefined) return false
  const term = await termOf(context, header, slot)
  missing.since ??= term.now
  const patience = ownPatience(context, headerHash)
  const isBegun = known?.journal.some(({ stage }) => stage === 'question') === true
  const isPatient = term.now < header.endTime + patience || term.now < missing.since + patience / ownShare
  if ((isPatient && !isBegun) || (await hasBody(context, missing))) return false
  const verdict =
    known !== undefined && missing.isRecorded
      ? known
      : await recordUnavailable(context, missing, elements.before)
  const sent = await follow(context, removalsOf(verdict), slot)
  if (sent.some(({ state, recorded }) => state === 'pending' || recorded.stage === 'removal')) return true
  const included = sent.flatMap(({ state, recorded }) => (state === 'included' ? recorded : []))
  const kept = await readVerdicts(context, headerHash, included)
  if (await removeByVerdict(context, headerHash, queue, kept, slot)) return true
  return question(context, missing, verdict, term, sight)
}

/**
 * Each watcher waits for another part of the last tenth of the patience, by block: the first asks, and the
 * others wait for that answer instead of paying for it again.
 */
function ownPatience({ patience, wallet }: WatcherContext, headerHash: Uint8Array): bigint {
  const [share = 0] = blake2b256(concatBytes(headerHash, wallet.keys.payment.hash))
  return patience - (patience * BigInt(share)) / 2560n
}

/** Whether the body of a block has come. Reads the archive, as the follower may not have said so yet. */
async function hasBody({ archive }: WatcherContext, missing: Missing): Promise<boolean> {
  const { headerHash, height } = missing.block
  const archived = missing.hasCome ? undefined : await archive.byHeight(height)
  if (archived !== undefined && equalBytes(archived.headerHash, headerHash)) missing.hasCome = true
  return missing.hasCome
}

/** A missing block that is asked for, unless its body comes meanwhile. */
const unlessItComes = (context: WatcherContext, missing: Missing) => ({
  ...missing.block,
  isNeeded: async () => !(await hasBody(context, missing)),
})

/** Records that no peer serves the body of a block. */
async function recordUnavailable(
  { verdicts, step }: WatcherContext,
  missing: Missing,
  before: Utxo,
): Promise<VerdictRecord> {
  const { headerHash, height, header } = missing.block
  const verdict = await verdicts.found({
    headerHash,
    height,
    header: encodeHeader(header),
    reason,
    commitId: before.reference.transactionId,
    state: 'unavailable',
  })
  missing.isRecorded = true
  step('unavailable')
  return verdict
}

/** @returns whether a question is over, so that there is a verdict, or soon will be */
async function question(
  context: WatcherContext,
  missing: Missing,
  verdict: VerdictRecord,
  term: QuestionTerm,
  sight: MissingSight,
): Promise<boolean> {
  const { open, slot, allowance, isBehind } = sight
  const { book } = missing
  const { hasExpired } = book
  const waiting = await followQuestions(context, book, verdict, open, slot)
  if (isBehind) allowance.behind += waiting.own
  // The next poll looks for the verdict first.
  if (book.hasExpired !== hasExpired) return true
  if (await expireOverdue(context, waiting, term, (asked) => isKnown(book, asked), slot)) return true
  const body = assemble(book)
  if (body.kind === 'whole') missing.transactions = body.transactions
  else if (body.kind === 'wanted') await askFor(context, missing, waiting, body.numbers, term, sight)
  else
    await giveUp(context, missing, body.reason, (fields) =>
      context.log.error(
        { code: 'WATCHER_UNPROVABLE', ...fields },
        'A block without a body stays in the state queue',
      ),
    )
  return false
}

async function askFor(
  context: WatcherContext,
  missing: Missing,
  waiting: Waiting,
  numbers: readonly number[],
  term: QuestionTerm,
  { slot, allowance, isBehind }: MissingSight,
): Promise<void> {
  const { block, book } = missing
  const asked = bySubject(waiting)
  const unasked: (readonly [number: number, wanted: WantedQuestion])[] = []
  for (const number of inOwnOrder(context.wallet.keys.payment.hash, block, numbers)) {
    const wanted = chunkQuestion(block.header.transactionsRoot, number)
    const same = asked.get(subjectOf(wanted))
    const isAsked = same !== undefined && (await reliesOnAsked(context, book, same, wanted, term))
    if (!isAsked) unasked.push([number, wanted])
    // One of a stranger that ends too late is of no use, and takes nothing.
    else if (number > 0) allowance.chunks--
  }
  if (unasked.length > 0 && !term.isInTime)
    return giveUp(context, missing, 'a question would end too late for a removal', (fields) =>
      context.asksTooLate(fields, term.now),
    )
  const next: WantedQuestion[] = []
  for (const [number, wanted] of unasked.slice(
    0,
    Math.max(0, mostPending(unasked.length) - waiting.pending.length),
  )) {
    if (number === 0 ? isBehind && !(await takeBehind(context, allowance)) : allowance.chunks-- <= 0) break
    next.push(wanted)
  }
  const least = unasked.length < numbers.length ? Math.min(leastAtOnce, unasked.length) : 1
  if (next.length >= least) await askAll(context, unlessItComes(context, missing), next, term, slot, least)
}

/** The questions that wait, by subject: anyone can ask thousands. */
function bySubject(waiting: Waiting): ReadonlyMap<string, Waiting> {
  const found = new Map<string, { open: OpenQuestion[]; pending: SummonsQuestion[] }>()
  const at = (subject: string) => {
    const known = found.get(subject) ?? { open: [], pending: [] }
    found.set(subject, known)
    return known
  }
  for (const each of waiting.open) at(subjectOf(each.question)).open.push(each)
  for (const each of waiting.pending) at(subjectOf(each)).pending.push(each)
  return new Map(Array.from(found, ([subject, same]) => [subject, { ...waiting, ...same }]))
}

/** Numbers in an order that depends on the wallet's key: several watchers so share the questions. */
export function inOwnOrder(
  keyHash: Uint8Array,
  { headerHash }: Pick<Missing['block'], 'headerHash'>,
  numbers: readonly number[],
): readonly number[] {
  const own = concatBytes(headerHash, keyHash)
  const rankOf = (number: number): number => {
    const hash = blake2b256(concatBytes(own, chunkKey(number)))
    return new DataView(hash.buffer, hash.byteOffset).getUint32(0)
  }
  return numbers
    .map((number) => ({ number, rank: rankOf(number) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ number }) => number)
}

export const chunkQuestion = (transactionsRoot: Uint8Array, number: number): WantedQuestion => ({
  kind: 'chunk',
  root: headerFieldIndex.transactionsRoot,
  key: chunkKey(number),
  hash: transactionsRoot,
  steps: [],
})

const isKnown = ({ chunks, nodes }: QuestionBook, question: OpenQuestion['question']): boolean =>
  question.kind === 'chunk' ? chunks.has(chunkNumberOf(question.key)) : nodes.has(subjectOf(question))

type Assembled =
  | { readonly kind: 'wanted'; readonly numbers: readonly number[] }
  /** If the map is false, without the chunks that it does not have. */
  | { readonly kind: 'whole'; readonly transactions: readonly Uint8Array[] }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** The known part of a block's body. */
export function assemble({ chunks }: QuestionBook): Assembled {
  const first = chunks.get(0)
  if (first === undefined) return { kind: 'wanted', numbers: [0] }
  const shown: Uint8Array[] = []
  for (const [number, chunk] of [...chunks].sort(([a], [b]) => a - b)) {
    // A claim convicts the block of such a chunk: only its record counts.
    if (number >= maxChunks) break
    if (chunk.kind === 'unreadable')
      return { kind: 'unreadable', reason: `the provider of layer 1 does not show its chunk ${number}` }
    if (chunk.kind === 'shown') shown.push(chunk.bytes)
  }
  const count = first.kind === 'shown' ? (chunkCountOf(first.record) ?? 1n) : 1n
  // A true map has no more: others may have asked for such chunks.
  const isAbsent = [...chunks].some(([number, { kind }]) => kind === 'absent' && number < count)
  const isFalse = isAbsent || count > maxChunks
  const numbers: number[] = []
  for (let number = 1; !isFalse && number < count; number++) if (!chunks.has(number)) numbers.push(number)
  if (numbers.length > 0) return { kind: 'wanted', numbers }
  return { kind: 'whole', transactions: shown.flatMap((bytes) => transactionsInChunk(bytes) ?? []) }
}

/** Records that nothing removes a block, and reports it once for each reason. */
async function giveUp(
  { verdicts }: WatcherContext,
  missing: Missing,
  why: string,
  report: (fields: StuckBlock) => void,
): Promise<void> {
  if (missing.reported === why) return
  const { headerHash, height, header } = missing.block
  const full = `${reason} (not provable: ${why})`
  await verdicts.found({
    headerHash,
    height,
    header: encodeHeader(header),
    reason: full,
    state: 'unavailable',
  })
  missing.reported = why
  report({ headerHash: toHex(headerHash), height: Number(height), reason: full })
}

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
  if (missing === undefined || missing.transactions !== undefined || (await hasBody(context, missing)))
    return notMissing
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
  const sent = await ask(context, unlessItComes(context, missing), [wanted], term, slot).catch(
    (error: unknown) => {
      if (isWalletError(error)) return error.message
      throw error
    },
  )
  if (typeof sent === 'string') return refused(`Not sent: ${sent}`)
  if (sent === undefined) return missing.hasCome ? notMissing : undefined
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
const notMissing = refused('Not missing: this node has the body of the block, or has not asked its peers yet')

/** The verdict about a block, if it is recorded. */
export const verdictAbout = (
  verdicts: readonly VerdictRecord[],
  wanted: Uint8Array,
): VerdictRecord | undefined => verdicts.find(({ headerHash }) => equalBytes(headerHash, wanted))
