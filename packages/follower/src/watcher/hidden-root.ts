import { setImmediate } from 'node:timers/promises'
import { headerFieldIndex } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
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
} from '@ratatosk/fraud'
import type { OpenQuestion } from '@ratatosk/protocol'
import type { VerdictRecord } from '@ratatosk/store'
import { ask, expireOverdue, reliesOnAsked, termOf } from './ask.js'
import type { Job, WatcherContext } from './context.js'
import { subjectOf } from './question-book.js'
import { apart, followQuestions } from './questions.js'

/** How a search of what the operator hides ends, for now. */
type Hidden<Found> =
  /** A question waits for its answer, or the next transaction for ada. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'found'; readonly found: Found }
  /** The root is true, or cannot be asked about any more. */
  | { readonly kind: 'none'; readonly why?: string }

const none = { kind: 'none' } as const
const unreadable = 'an answer of the summons cannot be read'
/** Questions about a map that wait at once. */
const mostAtOnce = 20

/** The questions about a map, and their answers. */
interface Inquiry {
  /** The answer to a question; undefined if there is none yet. */
  known(question: NextQuestion): NodeAnswer | 'unreadable' | undefined
  /** Asks the first of these that are not asked. @throws {Stopped} (rejects) while they wait, or at once */
  ask(questions: readonly NextQuestion[]): Promise<never>
}

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
 * Searches the map of `utxos_root` for an output that does not follow from the block's transactions, by
 * questions: the operator may not have shown it to anyone. Silence is a verdict too.
 */
export function searchOutputs(asking: Asking, accused: AccusedBlock): Promise<Hidden<ProvenFraud>> {
  const { header, afterTransactions: truth } = asking.job.block
  if (truth === undefined || equalBytes(truth.root, header.utxosRoot)) return Promise.resolve(none)
  return searching(asking, headerFieldIndex.utxosRoot, async ({ known, ask }) => {
    const { difference, questions } = nextQuestions(truth, header.utxosRoot, known)
    if (difference === undefined) return questions.length === 0 ? undefined : ask(questions)
    const proof = await claimOutput(accused, difference, () => setImmediate())
    return { policy: 'ledger', proof, redeemer: encodeLedgerFraudProof(header, proof) }
  })
}

/** Searches a transactions map that does not follow from the shown transactions for a fraud, by questions. */
export async function searchTransactions<Found>(
  asking: Asking,
  find: (block: AccusedBlock, proven: readonly ProvenFraud[]) => Promise<Found | undefined>,
): Promise<Hidden<Found>> {
  const { job, context } = asking
  const { block, book } = job
  const { header } = block
  if (context.contracts.summons === undefined) return none
  job.derived ??= await deriveMap(block)
  const { derived } = job
  if (equalBytes(derived.trie.root, header.transactionsRoot)) return none
  return searching(asking, headerFieldIndex.transactionsRoot, async (inquiry) => {
    const shown = createShownMap(header.transactionsRoot, derived.trie)
    const known: Inquiry['known'] = (question) => {
      const answer = inquiry.known(question)
      if (answer !== undefined && answer !== 'unreadable') shown.add(question, answer)
      return answer
    }
    const found = nextQuestions(derived.trie, header.transactionsRoot, known)
    // Later answers may show another one first, whose proof needs other questions.
    const difference = job.difference ?? found.difference
    if (difference === undefined)
      return found.questions.length === 0 ? undefined : inquiry.ask(found.questions)
    job.difference = difference
    shown.know(difference)
    // A search through the block takes long, and its result depends on the answers only.
    const answered = [...book.nodes.values()].filter((answer) => answer !== 'unreadable').length
    const state = `${answered} of ${book.nodes.size}, ${book.chunks.size} chunks`
    if (job.lacking?.state === state) return inquiry.ask(job.lacking.questions)
    const absent = difference.posted.hash === undefined ? difference.path : undefined
    for (;;) {
      const accused = await accuseShown(block, derived, shown, book.chunks, absent)
      const { proven, questions } = await shownFrauds(
        accused,
        derived,
        shown,
        context.contracts,
        context.rules,
      )
      if (questions.length === 0) return find(accused, proven)
      const answers = questions.map(known)
      const lacking = questions.filter((_, place) => answers[place] === undefined)
      // Silence about any other false node is a verdict too, before the way to what is missing is shown.
      if (lacking.length > 0) {
        job.lacking = { state, questions: [...lacking, ...found.questions] }
        return inquiry.ask(job.lacking.questions)
      }
      if (answers.includes('unreadable')) throw new Stopped({ kind: 'none', why: unreadable })
    }
  })
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
  const askAll: Inquiry['ask'] = async (questions) => {
    let waits = false
    for (const question of questions.slice(0, mostAtOnce)) {
      const wanted = { ...question, root }
      const isAsked = await reliesOnAsked(context, book, waiting, wanted, term)
      if (!isAsked && !term.isInTime) continue
      waits = true
      if (isAsked) continue
      const sent = await apart(context, () => ask(context, { headerHash, header }, wanted, term, slot))
      if (sent === undefined) break
    }
    throw new Stopped(
      waits ? { kind: 'waiting' } : { kind: 'none', why: 'a question would end too late for a removal' },
    )
  }
  try {
    const found = await search({ known, ask: askAll })
    if (found !== undefined) return { kind: 'found', found }
    return isUnreadable ? { kind: 'none', why: unreadable } : none
  } catch (error) {
    if (error instanceof Stopped) return error.hidden
    throw error
  }
}
