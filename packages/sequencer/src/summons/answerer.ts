import { decodeHeader } from '@ratatosk/block'
import { BytesMap, BytesSet, equalBytes, toHex } from '@ratatosk/cbor'
import { isLayer1Away, type Outbox, type OutboxState } from '@ratatosk/layer1'
import {
  decodeOutputReference,
  decodeTransaction,
  effects,
  encodeOutputReference,
  outputReferenceKey,
  slotToTime,
  type Utxo,
} from '@ratatosk/ledger'
import { type BuiltTransaction, isWalletError, type TransactionDraft } from '@ratatosk/ledger/builder'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { answerQuestion, surveyQuestions, unreadLine } from '@ratatosk/protocol'
import { encodeChunkAnswer, encodeNodeAnswer } from '@ratatosk/protocol/fraud'
import type { AnswerStage, AnswerTransaction, Block } from '@ratatosk/store'
import { refusalOf } from '../errors.js'
import type { Shown } from '../roots/index.js'
import { readElement, readReferenceScripts } from '../state/queue-elements.js'
import { type AnswerContext, followAnswers, fundsFor, letterOf, openAnswerOutbox } from './answer-wallet.js'
import { inOrder, type KnownQuestion, keyOf, type QuestionBook, turnAt } from './questions.js'

/** The longest time between two reads of the questions, in milliseconds. */
const longestPauseMs = 60_000
/** Reads of the questions in the time that an answer may take, at least. */
const readsPerPeriod = 10
/** The longest time that a question waits that could not be answered, in milliseconds. */
const retryMs = 10_000
/** Most bytes of answers in flight: a layer-1 block holds 90,112, and a node's mempool two blocks. */
const maxBytesInFlight = 131_072
/** Most of these while an answer about a block of another operator is sent. */
const maxBytesForOthers = maxBytesInFlight / 2

/** An answerer: its means, and all that it knows beside its store. */
interface Answerer {
  readonly context: AnswerContext
  readonly book: QuestionBook
  /** Aborts when no further answer is to begin. */
  readonly ends: AbortSignal
  readonly outbox: Outbox
  /** Milliseconds for an answer, and between two reads of the questions. */
  readonly period: bigint
  readonly pauseMs: number
  /** When an answer failed, by question, on the clock of `performance.now()`. */
  readonly failedAt: Map<string, number>
  /** The answers that this process has in flight, with their questions. */
  readonly sent: BytesMap<{ readonly key: string; readonly bytes: Uint8Array }>
  /** Hash of the tip at which as many answers as may be were in flight. */
  fullAt: string | undefined
  reported: string
}

/**
 * Answers questions about own blocks, even in a sequencer with a fault; and in the second half of the time
 * those about others, whose operators are silent: what was built on them would be lost. Every answer is
 * recorded before it is sent, and looked up before it is sent again.
 */
export function createAnswerer(context: AnswerContext, book: QuestionBook, ends: AbortSignal): Answerer {
  const { period = 1n } = context.contracts.parameters.summons ?? {}
  const { pollMs } = context.options
  return {
    context,
    book,
    ends,
    outbox: openAnswerOutbox(context),
    period,
    pauseMs: Math.max(pollMs, Math.min(longestPauseMs, Number(period) / readsPerPeriod)),
    failedAt: new Map(),
    sent: new BytesMap(),
    fullAt: undefined,
    reported: '',
  }
}

/** Does what is due. Never rejects. @returns milliseconds until the next call */
export async function answerDue(answerer: Answerer): Promise<number> {
  const { context, pauseMs } = answerer
  const { options, signal, log } = context
  try {
    const isMoreLeft = await answerAll(answerer)
    answerer.reported = ''
    return isMoreLeft ? options.pollMs : pauseMs
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    if (reason !== answerer.reported && !signal.aborted)
      log.warn({ err: error }, `Questions about blocks wait: ${reason}`)
    answerer.reported = reason
    return pauseMs
  }
}

/** @returns whether questions are left that could be answered now */
async function answerAll(answerer: Answerer): Promise<boolean> {
  const { context, book, failedAt } = answerer
  const { layer1, cache, answers, signal, log } = context
  // Read first, so that the questions are at least as new.
  const { slot, hash } = await layer1.tip({ signal })
  if (hash === answerer.fullAt) return true
  answerer.fullAt = undefined
  const questions = await readKnown(answerer)
  for (const asked of questions)
    if (asked.isOwn && !book.knows(asked)) log.info(...questionLine(asked, 'is asked for'))
  book.see(questions)
  const open = new Map(questions.map((asked) => [keyOf(asked), asked]))
  for (const key of failedAt.keys()) if (!open.has(key)) failedAt.delete(key)
  await releaseOvertaken(answerer, open, slot)
  const due = dueOf(answerer, questions, slot)
  if (due.length === 0) {
    await answers.blocks.rest()
    return false
  }
  const inFlight = await followDue(answerer, due, slot)
  // An answer costs more than its reward: more has to come before the wallet is empty.
  cache.questionsDue = due.filter(({ isOwn }) => isOwn).length
  if (cache.questionsDue > 0 && (await lacksFunds(context, cache.questionsDue)))
    cache.mayLackAnswerFunds = true
  return answerEach(answerer, due, inFlight, hash)
}

/**
 * Open questions about blocks of the store, own ones first: those about others may not delay the answers
 * that this operator owes. Never cached: a header may be guessed before its commit.
 */
async function readKnown({ context, book, period }: Answerer): Promise<KnownQuestion[]> {
  const { contracts, layer1, store, operator, signal, log } = context
  if (contracts.summons === undefined) return []
  const { addressText, policy } = contracts.summons
  // By address: a question that is asked again under its name must not hide behind others.
  const utxos = await layer1.utxosAt(addressText, { policy, signal })
  const { questions, unread } = await surveyQuestions(contracts, utxos)
  if (book.seeUnread(unread)) log.error({ code: 'SUMMONS_UNREAD' }, unreadLine(unread) ?? '')
  if (questions.length === 0) return []
  const unmerged = await store.blocks.unmerged()
  const strange = new BytesSet(questions.map(({ question }) => question.headerHash))
  for (const { headerHash } of unmerged) strange.delete(headerHash)
  const returned = strange.size === 0 ? [] : await findReturned(context, [...strange])
  const isOwn = ({ header }: Block): boolean =>
    equalBytes(decodeHeader(header).operatorVkey, operator.keys.payment.hash)
  const blocks = new BytesMap(
    [...unmerged, ...returned].map((block) => [block.headerHash, { block, isOwn: isOwn(block) }] as const),
  )
  const known = questions.flatMap((asked) => {
    const about = blocks.get(asked.question.headerHash)
    return about === undefined ? [] : { ...asked, ...about }
  })
  const ordered = inOrder(known, period)
  return [...ordered.filter((each) => each.isOwn), ...ordered.filter((each) => !each.isOwn)]
}

/** Those of these blocks that layer 1 has in the queue again after a roll-back, before the store has. */
async function findReturned(
  context: AnswerContext,
  headerHashes: readonly Uint8Array[],
): Promise<readonly Block[]> {
  const returned: Block[] = []
  for (const block of await context.store.blocks.byHashes(headerHashes))
    if ((await readElement(context, block)) !== undefined) returned.push(block)
  return returned
}

/** Those that it is this operator's turn to answer, and those that it has answered once. */
function dueOf(
  { context: { slots, operator }, sent, period }: Answerer,
  questions: readonly KnownQuestion[],
  slot: bigint,
): KnownQuestion[] {
  const begun = new Set([...sent.values()].map(({ key }) => key))
  const now = slotToTime(slots, slot)
  const isDue = (asked: KnownQuestion): boolean =>
    asked.isOwn || begun.has(keyOf(asked)) || turnAt(asked, period, operator.keys.payment.hash) <= now
  return questions.filter(isDue)
}

/** The recorded answers that layer 1 may still include. */
interface InFlight {
  readonly failures: ReadonlyMap<string, unknown>
  /** Of all of them. */
  readonly bytes: number
  aliveOf(key: string, stage: AnswerStage): AnswerTransaction | undefined
}

async function followDue(
  { context, book, outbox, sent, failedAt }: Answerer,
  due: readonly KnownQuestion[],
  slot: bigint,
): Promise<InFlight> {
  const { store } = context
  const recorded = await store.answers.of(due.map(({ utxo }) => encodeOutputReference(utxo.reference)))
  const failures = new Map<string, unknown>()
  const states = await followAnswers(context, outbox, recorded, slot, (each, error) => {
    failures.set(questionOf(each), error)
  })
  const journal = new Map(recorded.map((each) => [`${questionOf(each)} ${each.stage}`, each]))
  const aliveOf: InFlight['aliveOf'] = (key, stage) => {
    const found = journal.get(`${key} ${stage}`)
    return found !== undefined && isAlive(states, found) ? found : undefined
  }
  let bytes = 0
  for (const asked of due) {
    const key = keyOf(asked)
    if (failures.has(key)) reportFailure({ context, book, failedAt }, asked, failures.get(key))
    const before = aliveOf(key, 'answer')
    if (before === undefined || failures.has(key)) continue
    if (sent.has(before.id)) book.clear(asked)
    // Its first sending failed, or was by an earlier process.
    else book.answered(asked)
    sent.set(before.id, { key, bytes: before.cbor })
    bytes += before.cbor.length + (aliveOf(key, 'datum')?.cbor.length ?? 0)
  }
  return { failures, bytes, aliveOf }
}

/** @returns whether questions are left that could be answered now */
async function answerEach(
  answerer: Answerer,
  due: readonly KnownQuestion[],
  { failures, aliveOf, ...inFlight }: InFlight,
  tip: string,
): Promise<boolean> {
  const { context, ends, pauseMs, failedAt } = answerer
  const began = performance.now()
  let { bytes } = inFlight
  for (const asked of due) {
    const key = keyOf(asked)
    if (aliveOf(key, 'answer') !== undefined || failures.has(key)) continue
    if (ends.aborted) return false
    if (asked.isOwn && bytes >= maxBytesInFlight) {
      answerer.fullAt = tip
      return true
    }
    if (!asked.isOwn) {
      if (bytes >= maxBytesForOthers || (await lacksFunds(context))) return false
      // Own ones may have come.
      if (performance.now() - began > pauseMs) return true
    }
    if (performance.now() - (failedAt.get(key) ?? -Infinity) < Math.min(retryMs, pauseMs)) continue
    bytes += await answer(answerer, asked, aliveOf(key, 'datum'))
  }
  return false
}

/** Whether the wallet has less than so many own questions need. */
const lacksFunds = async ({ answers, signal }: AnswerContext, questions = 1): Promise<boolean> =>
  (await answers.wallet.spendable({ paidByAda: true }, { signal })) < fundsFor(questions)

/** Gives up answers whose question is gone, unless they have ended it: nothing may spend their change. */
async function releaseOvertaken(
  { context: { log, signal }, outbox, sent }: Answerer,
  open: ReadonlyMap<string, KnownQuestion>,
  slot: bigint,
): Promise<void> {
  for (const [id, { key, bytes }] of [...sent]) {
    if (open.has(key)) continue
    const state = await outbox.follow({ id, bytes }, slot, { signal })
    sent.delete(id)
    if (state === 'included') continue
    log.info({ transaction: toHex(id), question: key }, 'Another answer was quicker')
    outbox.drop(id)
  }
}

/** @returns the bytes of the answer, with those of a datum; 0 without one */
async function answer(
  answerer: Answerer,
  asked: KnownQuestion,
  held: AnswerTransaction | undefined,
): Promise<number> {
  const { context, book, outbox, sent, failedAt } = answerer
  const { answers, layer1, cache, signal, log } = context
  try {
    const shown = await answers.blocks.show(asked.question, asked.block)
    if (shown.kind === 'nothing') throw new Error('The block does not have what the question is about')
    // Many questions take longer than an answer is valid.
    const { slot } = await layer1.tip({ signal })
    const { built, length } = await buildAnswer(context, outbox, asked, shown, slot, held)
    const { id, bytes } = built
    sent.set(id, { key: keyOf(asked), bytes })
    failedAt.delete(keyOf(asked))
    book.answered(asked)
    log.info(...questionLine(asked, 'has answered for'))
    return length
  } catch (error) {
    if (isLayer1Away(error) || refusalOf(error)?.code === 'SEQUENCER_NOT_ACTIVE') throw error
    const isPoor = isWalletError(error) && error.code === 'WALLET_INSUFFICIENT_FUNDS'
    if (isPoor && asked.isOwn) cache.mayLackAnswerFunds = true
    reportFailure(answerer, asked, error)
    return 0
  }
}

function reportFailure(
  { context: { log }, book, failedAt }: Pick<Answerer, 'context' | 'book' | 'failedAt'>,
  asked: KnownQuestion,
  error: unknown,
): void {
  failedAt.set(keyOf(asked), performance.now())
  const reason = error instanceof Error ? error.message : String(error)
  if (!book.failed(asked, reason)) return
  const [fields, line] = questionLine(asked, 'cannot answer for')
  log[asked.isOwn ? 'error' : 'warn'](
    isWalletError(error) ? { ...fields, code: error.code } : { ...fields, err: error },
    `${line}: ${reason}`,
  )
}

const isAlive = (states: BytesMap<OutboxState>, { id }: AnswerTransaction): boolean =>
  states.get(id) !== 'dead'

const questionOf = ({ question }: AnswerTransaction): string =>
  outputReferenceKey(decodeOutputReference(question))

const asked = { chunk: 'a chunk', subtree: 'a subtree', leaf: 'a leaf', entry: 'an entry' } as const

function questionLine(
  { utxo, block, isOwn, question }: KnownQuestion,
  what: string,
): [fields: object, line: string] {
  const whose = isOwn ? '' : ' of another operator'
  const due = new Date(Number(question.deadline)).toISOString()
  return [
    { question: outputReferenceKey(utxo.reference), block: toHex(block.headerHash) },
    `Block ${block.height}${whose} ${what} ${asked[question.kind]}, due at ${due}`,
  ]
}

/** Bytes of a chunk that a redeemer holds beside the rest of an answer. */
const maxRedeemerBytes = 13_000
/** Bytes of a longer chunk that stay in the redeemer: bytes in a datum take ada. */
const keptBytes = 12_288

/**
 * Builds, records and sends an answer. The rest of a chunk that is too long for a redeemer goes into the
 * datum of an output, whose transaction (`held`, if recorded) is sent before.
 *
 * @returns the answer, and the bytes of both
 * @throws {WalletError}
 */
async function buildAnswer(
  context: AnswerContext,
  outbox: Outbox,
  asked: KnownQuestion,
  shown: Exclude<Shown, { kind: 'nothing' }>,
  slot: bigint,
  held: AnswerTransaction | undefined,
): Promise<{ readonly built: BuiltTransaction; readonly length: number }> {
  const holders: Utxo[] = []
  let heldBytes = held?.cbor.length ?? 0
  if (shown.kind === 'chunk' && shown.bytes.length > maxRedeemerBytes) {
    const datum = encodePlutusData(shown.bytes.subarray(keptBytes))
    const known = held && (await holderOf(context, held))
    if (known !== undefined) holders.push(known)
    else {
      const { bytes, produced } = await payHolder(context, outbox, asked, datum, slot)
      holders.push(produced[0] as Utxo)
      heldBytes = bytes.length
    }
  }
  const redeemer = (indexes: readonly number[]) => redeemerOf(asked, shown, indexes)
  const scripts = await readReferenceScripts(context)
  const draft = answerQuestion(context.contracts, { asked, redeemer, holders }, scripts)
  const built = await recordAndSend(context, outbox, asked, 'answer', draft, slot, holders)
  return { built, length: built.bytes.length + heldBytes }
}

function redeemerOf(
  { question }: KnownQuestion,
  shown: Exclude<Shown, { kind: 'nothing' }>,
  indexes: readonly number[],
): Uint8Array {
  if (shown.kind === 'node') return encodeNodeAnswer(0, question.key, shown.node)
  if (shown.kind === 'no chunk') return encodeChunkAnswer(0, shown)
  const { entry, proof, bytes } = shown
  const parts = indexes.length === 0 ? [bytes] : [bytes.subarray(0, keptBytes), ...indexes]
  return encodeChunkAnswer(0, { entry, proof, parts })
}

/** The output that a recorded transaction pays; undefined if it is spent. */
async function holderOf(
  { layer1, answers, signal }: AnswerContext,
  held: AnswerTransaction,
): Promise<Utxo | undefined> {
  const [output] = effects(decodeTransaction(held.cbor)).produced
  if (output === undefined || answers.wallet.isInFlight(held.id)) return output
  const [unspent] = await layer1.utxosByReferences([output.reference], { signal })
  return unspent
}

async function payHolder(
  context: AnswerContext,
  outbox: Outbox,
  asked: KnownQuestion,
  data: Uint8Array,
  slot: bigint,
): Promise<BuiltTransaction> {
  const { address } = context.answers.wallet
  const draft = { outputs: [{ address, datum: { kind: 'inline', data } as const }], paidByAda: true }
  return recordAndSend(context, outbox, asked, 'datum', draft, slot)
}

async function recordAndSend(
  context: AnswerContext,
  outbox: Outbox,
  { utxo }: KnownQuestion,
  stage: AnswerStage,
  draft: TransactionDraft,
  slot: bigint,
  spared: readonly Utxo[] = [],
): Promise<BuiltTransaction> {
  const { store, signal, slots, options } = context
  const { wallet } = context.answers
  const validUntil = slot + BigInt(Math.ceil(options.blockValidityMs / slots.slotLength))
  const built = await wallet.build({ ...draft, validUntil }, { signal, spared })
  const question = encodeOutputReference(utxo.reference)
  const recorded = { question, stage, id: built.id, cbor: built.bytes }
  try {
    await store.answers.record(recorded, context.lease)
  } catch (error) {
    wallet.release(built.id)
    throw error
  }
  context.step('answer-recorded')
  if ((await outbox.send(letterOf(recorded), slot, { signal })) === 'refused')
    throw new Error(`Layer 1 refused transaction ${toHex(built.id)}`)
  if (stage === 'answer') context.step('answer-sent')
  return built
}
