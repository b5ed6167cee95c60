import { maxChunks } from '@ratatosk/block'
import { BytesMap, toHex } from '@ratatosk/cbor'
import type { SummonsQuestion } from '@ratatosk/contracts'
import { isLayer1Away, type Spending } from '@ratatosk/layer1'
import {
  decodeOutputReference,
  decodeTransaction,
  decodeTransactionOutput,
  effects,
  outputReferenceKey,
  type Utxo,
} from '@ratatosk/ledger'
import { decodeAnyData, PlutusDataError } from '@ratatosk/ledger/plutus-data'
import { type OpenQuestion, readQuestions, surveyQuestions } from '@ratatosk/protocol'
import {
  answerIn,
  chunkAnswerFromData,
  nodeAnswerFromData,
  nodeOfKey,
  type ShownChunkAnswer,
} from '@ratatosk/protocol/fraud'
import type { VerdictRecord } from '@ratatosk/store'
import { chunkNumberOf, type QuestionBook, subjectOf, type WatcherContext } from './context.js'
import { follow } from './send.js'

export interface Waiting {
  /** Those that layer 1 shows. */
  readonly open: readonly OpenQuestion[]
  /** Recorded questions, not yet on layer 1. */
  readonly pending: readonly SummonsQuestion[]
  /** Outputs of those that are recorded. */
  readonly recorded: ReadonlySet<string>
  /** How many of both are recorded: others can ask as much as they pay for. */
  readonly own: number
}

/** Of the summons, by header hash. */
export interface Summonses {
  readonly open: BytesMap<readonly OpenQuestion[]>
  readonly verdicts: BytesMap<Utxo>
}

/** Reads the questions and verdicts that layer 1 shows; reports what it does not read. */
export async function readSummonses({
  contracts,
  layer1,
  signal,
  doesNotRead,
}: WatcherContext): Promise<Summonses> {
  const found = new BytesMap<OpenQuestion[]>()
  if (contracts.summons === undefined) return { open: found, verdicts: new BytesMap() }
  const { addressText, policy } = contracts.summons
  const utxos = await layer1.utxosAt(addressText, { policy, signal })
  const { questions, verdicts, unread } = await surveyQuestions(contracts, utxos)
  for (const asked of questions) {
    const { headerHash } = asked.question
    const known = found.get(headerHash)
    if (known === undefined) found.set(headerHash, [asked])
    else known.push(asked)
  }
  doesNotRead(unread)
  return { open: found, verdicts }
}

/** Follows questions about a block: resends unknown ones, forgets expired ones, reads answers. */
export async function followQuestions(
  context: WatcherContext,
  book: QuestionBook,
  verdict: Pick<VerdictRecord, 'headerHash' | 'journal'> | undefined,
  open: readonly OpenQuestion[],
  slot: bigint,
): Promise<Waiting> {
  if (verdict !== undefined && book.kept === undefined) await readKept(context, book, verdict)
  const shown = new Map(open.map((asked) => [keyOf(asked), asked]))
  const pending = new Map<string, SummonsQuestion>()
  let own = 0
  const made = new Set<string>()
  for (const recorded of verdict?.journal ?? []) {
    if (recorded.stage !== 'question') continue
    const produced = readQuestions(context.contracts, effects(decodeTransaction(recorded.cbor)).produced)
    const asked = new Map(produced.map((each) => [keyOf(each), each]))
    for (const key of asked.keys()) {
      made.add(key)
      if (shown.has(key)) own++
      if (shown.has(key) || book.spent.has(key)) asked.delete(key)
    }
    if (asked.size === 0) continue
    const sent = await apart(context, async () => (await follow(context, [recorded], slot))[0])
    for (const [key, each] of asked) {
      if (sent === failed || sent?.state === 'pending') pending.set(key, each.question)
      if (sent === failed) continue
      if (sent?.state === 'included') book.seen.set(key, each)
      else book.seen.delete(key)
    }
  }
  for (const [key, asked] of shown) book.seen.set(key, asked)
  for (const [key, asked] of book.seen) {
    if (shown.has(key) || pending.has(key)) continue
    const isAnswered = await apart(context, async () => {
      const spending = await context.layer1.spending(asked.utxo.reference, { signal: context.signal })
      return spending && readAnswer(context, book, asked, spending)
    })
    // Layer 1 has lost it, or the provider is behind: one that is included must not be asked again.
    if (isAnswered === undefined || isAnswered === failed) {
      if (made.has(key)) pending.set(key, asked.question)
      continue
    }
    book.seen.delete(key)
    book.spent.add(key)
    if (isAnswered) context.step('answered')
    else book.hasExpired = true
  }
  return { open, pending: [...pending.values()], recorded: made, own: own + pending.size }
}

/** The result of what has failed. */
export const failed: unique symbol = Symbol('failed')

/** Does something about one question. Its failure is reported; it ends the tick if layer 1 is unavailable. */
export async function apart<Result>(
  { signal, fails }: Pick<WatcherContext, 'signal' | 'fails'>,
  run: () => Promise<Result>,
): Promise<Result | typeof failed> {
  try {
    return await run()
  } catch (error) {
    if (signal.aborted || isLayer1Away(error)) throw error
    fails(error)
    return failed
  }
}

/** Reads the questions of others that an earlier process relied on. */
async function readKept(
  { contracts, verdicts }: WatcherContext,
  book: QuestionBook,
  { headerHash }: Pick<VerdictRecord, 'headerHash'>,
): Promise<void> {
  const kept = await verdicts.keptQuestions(headerHash)
  const utxos = kept.map(({ reference, output }) => ({
    reference: decodeOutputReference(reference),
    output: decodeTransactionOutput(output),
  }))
  const asked = readQuestions(contracts, utxos)
  for (const each of asked) book.seen.set(keyOf(each), each)
  book.kept = new Set(asked.map(keyOf))
}

export const keyOf = ({ utxo }: OpenQuestion): string => outputReferenceKey(utxo.reference)

/** Takes note of an answer. @returns whether the question was answered: it may have expired */
function readAnswer(
  { log }: WatcherContext,
  book: QuestionBook,
  { question }: OpenQuestion,
  { redeemer, referenceInputs, transactionId }: Spending,
): boolean {
  if (redeemer === undefined) return false
  const isChunk = question.kind === 'chunk'
  try {
    const answer = answerIn(redeemer)
    if (answer === undefined) return false
    const { key, root } = question
    if (isChunk)
      note(
        book,
        question,
        chunkAnswerFromData(answer, (place) => datumOf(referenceInputs?.[place])),
      )
    else book.nodes.set(subjectOf(question), nodeAnswerFromData(answer, { ...nodeOfKey(key), root }))
  } catch (error) {
    if (!(error instanceof PlutusDataError)) throw error
    log.error({ err: error, transaction: toHex(transactionId) }, 'An answer of the summons cannot be read')
    if (isChunk) note(book, question, { kind: 'unreadable' })
    else if (!book.nodes.has(subjectOf(question))) book.nodes.set(subjectOf(question), 'unreadable')
  }
  return true
}

/** The bytes that the summons reads as the datum of an output: or its hash if it has only that. */
function datumOf(utxo: Utxo | undefined): Uint8Array | undefined {
  const datum = utxo?.output.datum
  if (datum?.kind === 'hash') return datum.hash
  const data = datum?.kind === 'inline' ? decodeAnyData(datum.data) : undefined
  return data?.kind === 'bytes' ? data.value : undefined
}

function note({ chunks }: QuestionBook, { key }: SummonsQuestion, shown: ShownChunkAnswer): void {
  const number = chunkNumberOf(key)
  if (chunks.get(number)?.kind === 'shown') return
  // No block has such a chunk, so its bytes are not needed: they would be without a bound.
  const isBeyond = shown.kind === 'shown' && number >= maxChunks
  chunks.set(number, isBeyond ? { ...shown, bytes: new Uint8Array() } : shown)
}

/** Questions about chunks, but the first of a block, that may wait before any of them is answered. */
const firstWave = 2_048

/**
 * How much more may be asked about blocks without bodies. An operator who is silent loses one bond, however
 * much was asked, and a watcher 0.08 ada for each question. So two blocks of the longest may be asked for
 * before anything is shown, and one chunk more for each that is, which costs the operator as well. The first
 * one about a block costs the operator its commit.
 */
export interface Allowance {
  /** Questions about chunks that are not the first of their block. */
  chunks: number
  /** Own questions that wait about blocks behind the oldest. */
  behind: number
  /** Lovelace of the wallet, read when it is needed first. */
  spendable?: bigint
}

/**
 * Questions about chunks that may wait, by the number of chunks that are shown. Absences do not count: they
 * cost an operator next to nothing, and a stranger may ask for any number of chunks that no block has.
 */
export const waveOf = (shown: number): number => firstWave + shown

/** The {@link Allowance} at the beginning of a read, by the answers about all such blocks. */
export function openAllowance(books: readonly Pick<QuestionBook, 'chunks'>[]): Allowance {
  const shown = books.flatMap(({ chunks }) => [...chunks.values()]).filter(({ kind }) => kind !== 'absent')
  return { chunks: waveOf(shown.length), behind: 0 }
}

/**
 * Takes the ada for a question about a block behind the oldest, if as much is left as such questions lock:
 * their bonds return late if the oldest is removed.
 */
export async function takeBehind(
  { wallet, contracts, signal }: WatcherContext,
  allowance: Allowance,
): Promise<boolean> {
  const { bond = 0n } = contracts.parameters.summons ?? {}
  allowance.spendable ??= await wallet.spendable({}, { signal })
  if (allowance.spendable < BigInt(allowance.behind + 1) * bond) return false
  allowance.behind++
  allowance.spendable -= bond
  return true
}
