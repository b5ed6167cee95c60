import { setImmediate } from 'node:timers/promises'
import { headerFieldIndex } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import type { OpenQuestion } from '@ratatosk/protocol'
import {
  type AccusedBlock,
  accuseShown,
  claimOutput,
  createShownMap,
  deriveMap,
  encodeLedgerFraudProof,
  type NextQuestion,
  type NodeAnswer,
  nextQuestions,
  type ProvenFraud,
  shownFrauds,
} from '@ratatosk/protocol/fraud'
import type { VerdictRecord } from '@ratatosk/store'
import { askAll, expireOverdue, reliesOnAsked, termOf, type WantedQuestion } from './ask.js'
import { type Job, subjectOf, type WatcherContext } from './context.js'
import { followQuestions } from './questions.js'

/** Questions about a map that wait at once. */
export const mostAtOnce = 40
/**
 * Differences behind which a search goes on although no claim reaches them. An operator can make any number,
 * and is paid for each answer.
 */
const mostClaimless = 32

/** The questions about a map, and their answers. */
export interface Inquiry {
  /** The answer to a question; undefined if there is none yet. */
  known(question: NextQuestion): NodeAnswer | 'unreadable' | undefined
  /** Asks the first {@link mostAtOnce} of these. It rejects: the search begins again later. */
  ask(questions: readonly NextQuestion[]): Promise<never>
}

/** A search goes no further: an answer of the summons cannot be read. */
class Unreadable extends Error {
  override readonly name = 'Unreadable'

  constructor() {
    super('an answer of the summons cannot be read')
  }
}

/** The accused block, with what its searches keep from one answer to the next. */
export type SearchedBlock = Pick<Job, 'block' | 'book' | 'derived' | 'difference' | 'lacking'>

/**
 * Searches the map of `utxos_root` for an output that does not follow from the block's transactions.
 * Undefined if the root is the true one.
 */
export async function falseOutput(
  { known, ask }: Inquiry,
  { block: { header, afterTransactions: truth } }: Pick<SearchedBlock, 'block'>,
  accused: AccusedBlock,
): Promise<ProvenFraud | undefined> {
  if (truth === undefined || equalBytes(truth.root, header.utxosRoot)) return undefined
  const { differences, questions } = nextQuestions(truth, header.utxosRoot, known)
  const [difference] = differences
  if (difference === undefined) return questions.length === 0 ? undefined : ask(questions)
  const proof = await claimOutput(accused, difference, () => setImmediate())
  return { policy: 'ledger', proof, redeemer: encodeLedgerFraudProof(header, proof) }
}

/**
 * Searches a transactions map that does not follow from the shown transactions for a fraud. Undefined if its
 * root is the true one, or nothing more is readable.
 *
 * @param find takes the frauds that are proven
 * @throws {Unreadable} (rejects)
 */
export async function falseTransactions<Found>(
  inquiry: Inquiry,
  job: SearchedBlock,
  { contracts, rules }: Pick<WatcherContext, 'contracts' | 'rules'>,
  find: (block: AccusedBlock, proven: readonly ProvenFraud[]) => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const { block, book } = job
  const { header } = block
  job.derived ??= await deriveMap(block)
  const { derived } = job
  if (equalBytes(derived.trie.root, header.transactionsRoot)) return undefined
  const shown = createShownMap(header.transactionsRoot, derived.trie)
  const known: Inquiry['known'] = (question) => {
    const answer = inquiry.known(question)
    if (answer !== undefined && answer !== 'unreadable') shown.add(question, answer)
    return answer
  }
  const found = nextQuestions(derived.trie, header.transactionsRoot, known)
  // Later answers may show another one first, whose proof needs other questions.
  job.difference ??= found.differences[0]
  const { difference } = job
  if (difference === undefined) return found.questions.length === 0 ? undefined : inquiry.ask(found.questions)
  shown.know(difference)
  // A search through the block takes long, and its result depends on the answers only.
  const answered = [...book.nodes.values()].filter((answer) => answer !== 'unreadable').length
  const state = `${answered} of ${book.nodes.size}, ${book.chunks.size} chunks`
  if (job.lacking?.state === state) return inquiry.ask(job.lacking.questions)
  const ask = (questions: readonly NextQuestion[]) => {
    job.lacking = { state, questions }
    return inquiry.ask(questions)
  }
  const others = found.differences.filter(({ path }) => !equalBytes(path, difference.path))
  for (;;) {
    const accused = await accuseShown(block, derived, shown, book.chunks)
    const { proven, questions } = await shownFrauds(accused, derived, shown, contracts, rules)
    if (proven.length > 0) return find(accused, proven)
    if (questions.length === 0) {
      // No claim reaches the difference, as of deposits: another may be behind it.
      if (found.differences.length > mostClaimless) return undefined
      const unknown = others.splice(0)
      if (unknown.length === 0) return found.questions.length === 0 ? undefined : ask(found.questions)
      for (const each of unknown) shown.know(each)
      continue
    }
    const answers = questions.map(known)
    const lacking = questions.filter((_, place) => answers[place] === undefined)
    // Silence about any other false node is a verdict too, before the way to what is missing is shown.
    if (lacking.length > 0) return ask([...lacking, ...found.questions])
    if (answers.includes('unreadable')) throw new Unreadable()
  }
}

/** How a search of what the operator hides ends, for now. */
type Hidden<Found> =
  /** A question waits for its answer, or the next transaction for ada. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'found'; readonly found: Found }
  /** The root is true, or cannot be asked about any more. */
  | { readonly kind: 'none'; readonly why?: string }

const none = { kind: 'none' } as const

/** A search that goes on later, or never. */
class Stopped extends Error {
  constructor(readonly hidden: Hidden<never>) {
    super('There is no answer')
  }
}

interface Asking {
  readonly context: WatcherContext
  readonly job: Job
  readonly verdict: VerdictRecord
  /** The questions about the block that layer 1 shows. */
  readonly open: readonly OpenQuestion[]
  /** Of layer 1's tip. */
  readonly slot: bigint
}

/**
 * Searches the map of `utxos_root` by questions: the operator may not have shown it to anyone. Silence is a
 * verdict too.
 */
export function searchOutputs(asking: Asking, accused: AccusedBlock): Promise<Hidden<ProvenFraud>> {
  const { header, afterTransactions: truth } = asking.job.block
  if (truth === undefined || equalBytes(truth.root, header.utxosRoot)) return Promise.resolve(none)
  return searching(asking, headerFieldIndex.utxosRoot, (inquiry) => falseOutput(inquiry, asking.job, accused))
}

/** Searches a transactions map that does not follow from the shown transactions for a fraud, by questions. */
export async function searchTransactions<Found>(
  asking: Asking,
  find: (block: AccusedBlock, proven: readonly ProvenFraud[]) => Promise<Found | undefined>,
): Promise<Hidden<Found>> {
  const { job, context } = asking
  const { block } = job
  if (context.contracts.summons === undefined) return none
  job.derived ??= await deriveMap(block)
  if (equalBytes(job.derived.trie.root, block.header.transactionsRoot)) return none
  return searching(asking, headerFieldIndex.transactionsRoot, (inquiry) =>
    falseTransactions(inquiry, job, context, find),
  )
}

/** Runs a search from its beginning, with the answers that are known, and asks the next questions. */
async function searching<Found>(
  { context, job, verdict, open, slot }: Asking,
  root: number,
  search: (inquiry: Inquiry) => Promise<Found | undefined>,
): Promise<Hidden<Found>> {
  if (context.contracts.summons === undefined) return none
  const { block, book } = job
  const { header, headerHash } = block
  const term = await termOf(context, header, slot)
  const waiting = await followQuestions(context, book, verdict, open, slot)
  const isKnown = (question: OpenQuestion['question']) =>
    question.kind === 'chunk' || book.nodes.has(subjectOf(question))
  if (await expireOverdue(context, waiting, term, isKnown, slot)) return { kind: 'waiting' }
  let isUnreadable = false
  const known: Inquiry['known'] = (question) => {
    const answer = book.nodes.get(subjectOf({ ...question, root }))
    isUnreadable ||= answer === 'unreadable'
    return answer
  }
  const ask: Inquiry['ask'] = async (questions) => {
    let waits = false
    const unasked: WantedQuestion[] = []
    for (const question of questions.slice(0, mostAtOnce)) {
      const wanted = { ...question, root }
      const isAsked = await reliesOnAsked(context, book, waiting, wanted, term)
      if (isAsked || term.isInTime) waits = true
      if (!isAsked && term.isInTime) unasked.push(wanted)
    }
    await askAll(context, { headerHash, header }, unasked, term, slot)
    throw new Stopped(
      waits ? { kind: 'waiting' } : { kind: 'none', why: 'a question would end too late for a removal' },
    )
  }
  try {
    const found = await search({ known, ask })
    if (found !== undefined) return { kind: 'found', found }
    return isUnreadable ? { kind: 'none', why: new Unreadable().message } : none
  } catch (error) {
    if (error instanceof Unreadable) return { kind: 'none', why: error.message }
    if (error instanceof Stopped) return error.hidden
    throw error
  }
}
