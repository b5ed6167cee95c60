import type { Header } from '@ratatosk/block'
import type { SummonsQuestion } from '@ratatosk/contracts'
import { encodeOutputReference, type SlotConfig, slotToTime } from '@ratatosk/ledger'
import {
  askQuestions,
  type Contracts,
  endQuestion,
  firstSlotFrom,
  mostInAsking,
  type OpenQuestion,
} from '@ratatosk/protocol'
import { encodeAsk, encodeExpiry } from '@ratatosk/protocol/fraud'
import type { RecordedTransaction } from '@ratatosk/store'
import type { Proof } from '@ratatosk/trie'
import { isAbout, type Missing, type QuestionBook, type Subject, type WatcherContext } from './context.js'
import { apart, failed, keyOf, type Waiting } from './questions.js'
import { readScripts } from './read-layer1.js'
import { affordable, buildAndSend } from './send.js'

/** Shares of the time for an answer in which layer 1 has to include a question. */
const sharesOfPeriod = 2

/** The fact that the summons proves by silence, as verdicts name it. */
export const silence = { policy: 'summons', fraud: 'unanswered' } as const

export interface WantedQuestion extends Subject {
  /** From the root to the node; none for a chunk. */
  readonly steps: Proof
}

/** When questions of now end, by layer 1's clock. */
export interface QuestionTerm {
  readonly now: bigint
  /** POSIX milliseconds of the current slot, which may be behind the tip's. */
  readonly clock: bigint
  /** Slot until which a question may be included. */
  readonly validUntil: bigint
  /** POSIX milliseconds. */
  readonly deadline: bigint
  /** Whether a removal fits behind the deadline, before the block is mature. */
  readonly isInTime: boolean
}

/** The term of a question about a block. @throws TypeError without a summons */
export async function termOf(
  { layer1, contracts, signal, validityMs }: WatcherContext,
  { endTime }: Pick<Header, 'endTime'>,
  slot: bigint,
): Promise<QuestionTerm> {
  const slots = await layer1.slots({ signal })
  const current = await layer1.currentSlot({ signal })
  return termAt(contracts, { slots, validityMs, slot, current }, endTime)
}

/** When a question is asked. */
interface Moment {
  readonly slots: SlotConfig
  readonly validityMs: number
  /** Of layer 1's tip. */
  readonly slot: bigint
  /** That the clock shows. */
  readonly current: bigint
}

export function termAt(
  { parameters }: Pick<Contracts, 'parameters'>,
  { slots, validityMs, slot, current }: Moment,
  endTime: bigint,
): QuestionTerm {
  const { summons, maturityWindow } = parameters
  if (summons === undefined) throw new TypeError('These contracts have no summons')
  const { period } = summons
  const validity = Math.min(validityMs, Number(period) / sharesOfPeriod)
  const soonest = slot + BigInt(Math.ceil(validity / slots.slotLength))
  // The summons takes no question whose validity interval ends before the block.
  const blockEnd = firstSlotFrom(slots, endTime)
  const validUntil = soonest < blockEnd ? blockEnd : soonest
  const deadline = slotToTime(slots, validUntil) + period
  const isInTime = deadline + period <= endTime + maturityWindow
  const [now, clock] = [slotToTime(slots, slot), slotToTime(slots, current)]
  return { now, clock, validUntil, deadline, isInTime }
}

/** Whether any question waits. A later deadline counts for nothing: an operator could gain time by it. */
export const isAsked = (
  { open, pending }: Waiting,
  wanted: WantedQuestion,
  { deadline }: QuestionTerm,
): boolean => pending.some(isAbout(wanted)) || open.some(counts(wanted, deadline))

const counts =
  (wanted: WantedQuestion, latest: bigint) =>
  ({ question }: OpenQuestion): boolean =>
    question.deadline <= latest && isAbout(wanted)(question)

/**
 * Whether a question waits already. One not recorded is kept: its answer is read after a restart. After one
 * has ended without an answer, those of others count for nothing: who asked may not want the answers.
 */
export async function reliesOnAsked(
  { verdicts }: WatcherContext,
  { kept, hasExpired }: QuestionBook,
  shown: Waiting,
  wanted: WantedQuestion,
  term: QuestionTerm,
): Promise<boolean> {
  const isOwn = (each: OpenQuestion): boolean => shown.recorded.has(keyOf(each))
  const waiting = hasExpired ? { ...shown, open: shown.open.filter(isOwn) } : shown
  if (!isAsked(waiting, wanted, term)) return false
  const others = waiting.open
    .filter(counts(wanted, term.deadline))
    .filter((each) => !waiting.recorded.has(keyOf(each)))
  const [asked] = others
  // One is enough: anyone can ask the same again and again.
  if (asked === undefined || kept === undefined || others.some((each) => kept.has(keyOf(each)))) return true
  const { question, utxo } = asked
  const reference = encodeOutputReference(utxo.reference)
  await verdicts.keepQuestion(question.headerHash, { reference, output: utxo.output.bytes })
  kept.add(keyOf(asked))
  return true
}

/**
 * Ends the first question that can be ended of those whose deadline is over; others may be about what is
 * known by now. @returns whether a deadline is over
 */
export async function expireOverdue(
  context: WatcherContext,
  { open }: Waiting,
  { clock }: QuestionTerm,
  isKnown: (question: SummonsQuestion) => boolean,
  slot: bigint,
): Promise<boolean> {
  const overdue = open.filter(({ question }) => question.deadline <= clock && !isKnown(question))
  for (const each of overdue) if ((await apart(context, () => expire(context, each, slot))) !== failed) break
  return overdue.length > 0
}

/** A block that questions are about. */
interface AskedBlock extends Pick<Missing['block'], 'headerHash' | 'header'> {
  /** Whether they are needed still. */
  readonly isNeeded?: () => Promise<boolean>
}

/** Bytes of a question in a transaction beside its way, and of all in one, which layer 1 bounds. */
const [questionBytes, maxBytes] = [300, 11_500]

/**
 * Asks questions about a block, as many in a transaction as fit, each of which is recorded before. One that
 * cannot be built holds up no other.
 *
 * @param least questions of a transaction, unless fewer are wanted: those behind wait for more ada
 */
export async function askAll(
  context: WatcherContext,
  block: AskedBlock,
  wanted: readonly WantedQuestion[],
  term: QuestionTerm,
  slot: bigint,
  least = 1,
): Promise<void> {
  const { bond = 1n } = context.contracts.parameters.summons ?? {}
  const without = encodeAsk(block.header, []).length
  const send = (batch: readonly WantedQuestion[]) =>
    apart(context, () => ask(context, block, batch, term, slot))
  let batch: readonly WantedQuestion[] = []
  for (let asked = 0; asked < wanted.length; asked += batch.length) {
    const most = Number((await affordable(context)) / bond)
    const next = wanted.slice(asked, asked + mostInAsking)
    const sizes = next.map(({ steps }) => questionBytes + encodeAsk(block.header, [steps]).length - without)
    let [count, bytes] = [0, 0]
    while (count < Math.min(next.length, most) && bytes <= maxBytes) bytes += sizes[count++] ?? 0
    // One is tried even if it is too much, so that the reason is reported.
    batch = next.slice(0, Math.max(1, bytes > maxBytes ? count - 1 : count))
    if (batch.length < Math.min(least, next.length)) return
    const sent = await send(batch)
    if (sent === undefined) return
    if (sent === failed && batch.length > 1) for (const each of batch) await send([each])
  }
}

/** Asks questions about a block in one transaction, which is recorded before; undefined if it is not sent. */
export async function ask(
  context: WatcherContext,
  { headerHash, header, ...last }: AskedBlock,
  wanted: readonly WantedQuestion[],
  { validUntil }: QuestionTerm,
  slot: bigint,
): Promise<RecordedTransaction | undefined> {
  const { contracts, wallet, layer1, signal } = context
  const slots = await layer1.slots({ signal })
  const refund = wallet.keys.payment.hash
  const questions = wanted.map((each) => ({ ...each, headerHash, refund }))
  const redeemer = (sorted: typeof questions) =>
    encodeAsk(
      header,
      sorted.map(({ steps }) => steps),
    )
  const asking = { questions, redeemer, validUntil, slots }
  const draft = askQuestions(contracts, asking, await readScripts(context))
  const sent = await buildAndSend(context, { ...last, headerHash, stage: 'question', draft }, slot)
  if (sent !== undefined) context.asked(wanted.length)
  return sent
}

/**
 * Ends a question that was not answered in time: the summons keeps a verdict against the block. Layer 1 may
 * refuse that until its tip is behind the deadline, so it is tried once for each tip.
 */
async function expire(context: WatcherContext, asked: OpenQuestion, slot: bigint): Promise<void> {
  const { contracts, layer1, signal } = context
  const attempt = `${keyOf(asked)} at ${slot}`
  if (context.refusedEnd === attempt) return
  const slots = await layer1.slots({ signal })
  const draft = endQuestion(contracts, asked, encodeExpiry(0), slots, await readScripts(context))
  const now = await layer1.currentSlot({ signal })
  // The time of a slot may begin before the deadline.
  if (draft.validFrom !== undefined && now < draft.validFrom) return
  const { headerHash } = asked.question
  const wanted = { headerHash, stage: 'verdict', draft, proof: silence, from: now } as const
  const sent = await buildAndSend(context, wanted, slot)
  if (sent === undefined) context.refusedEnd = attempt
  else context.step('unanswered')
}
