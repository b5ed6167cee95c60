import { setImmediate } from 'node:timers/promises'
import { headerFieldIndex } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import {
  type AccusedBlock,
  accuseShown,
  claimOutput,
  createShownMap,
  type Difference,
  deriveMap,
  encodeLedgerFraudProof,
  missingForProof,
  type NextQuestion,
  type NodeAnswer,
  nextQuestion,
  type ProvenFraud,
} from '@ratatosk/fraud'
import type { OpenQuestion } from '@ratatosk/protocol'
import type { VerdictRecord } from '@ratatosk/store'
import type { TrieView } from '@ratatosk/trie'
import { ask, expireOverdue, reliesOnAsked, termOf } from './ask.js'
import type { Job, WatcherContext } from './context.js'
import { type QuestionBook, subjectOf } from './question-book.js'
import { followQuestions } from './questions.js'

/** How a search of what the operator hides ends, for now. */
type Hidden<Found> =
  /** A question waits for its answer, or the next transaction for ada. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'found'; readonly found: Found }
  /** The root is true, or cannot be asked about any more. */
  | { readonly kind: 'none'; readonly why?: string }

const none = { kind: 'none' } as const
/** Questions about a map that are asked at once. */
const mostAtOnce = 20

/** Gives the answers to questions about a map. All are asked. @throws {Stopped} (rejects) while one lacks */
type Answers = (questions: readonly NextQuestion[]) => Promise<readonly NodeAnswer[]>

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
  return searching(asking, headerFieldIndex.utxosRoot, async (answers) => {
    const difference = await differenceOf(truth, header.utxosRoot, answers)
    if (difference === undefined) return undefined
    const proof = await claimOutput(accused, difference, () => setImmediate())
    return { policy: 'ledger', proof, redeemer: encodeLedgerFraudProof(header, proof) }
  })
}

/** Searches a transactions map that does not follow from the shown transactions for a fraud, by questions. */
export async function searchTransactions<Found>(
  asking: Asking,
  find: (block: AccusedBlock) => Promise<Found | undefined>,
): Promise<Hidden<Found>> {
  const { job, context } = asking
  const { block, book } = job
  const { header } = block
  if (context.contracts.summons === undefined) return none
  job.derived ??= await deriveMap(block)
  const { derived } = job
  if (equalBytes(derived.trie.root, header.transactionsRoot)) return none
  return searching(asking, headerFieldIndex.transactionsRoot, async (answers) => {
    const shown = createShownMap(header.transactionsRoot)
    const add: Answers = async (questions) => {
      const given = await answers(questions)
      for (const [place, question] of questions.entries()) shown.add(question, given[place] as NodeAnswer)
      return given
    }
    const difference = await differenceOf(derived.trie, header.transactionsRoot, add)
    if (difference === undefined) return undefined
    shown.know(difference)
    const absent = difference.posted.hash === undefined ? difference.path : undefined
    for (;;) {
      const accused = await accuseShown(block, derived, shown, shownChunks(book), absent)
      const missing = await missingForProof(accused, shown, context.rules)
      if (missing.length === 0) return find(accused)
      await add(missing.slice(0, mostAtOnce))
    }
  })
}

function shownChunks({ chunks }: QuestionBook) {
  const shown = new Map<number, { readonly record: Uint8Array; readonly bytes: Uint8Array }>()
  for (const [number, chunk] of chunks) if (chunk.kind === 'shown') shown.set(number, chunk)
  return shown
}

/** The difference between the map of a posted root and the true map; undefined if there is none. */
async function differenceOf(
  truth: TrieView,
  root: Uint8Array,
  answers: Answers,
): Promise<Difference | undefined> {
  const given: NodeAnswer[] = []
  for (;;) {
    const next = nextQuestion(truth, root, given)
    if (next.kind === 'none') return undefined
    if (next.kind === 'difference') return next.difference
    given.push(...(await answers([next.question])))
  }
}

/** Runs a search from its beginning, with the answers that are known, and asks the next question. */
async function searching<Found>(
  { context, job, verdict, open, slot }: Asking,
  root: number,
  search: (answers: Answers) => Promise<Found | undefined>,
): Promise<Hidden<Found>> {
  if (context.contracts.summons === undefined) return none
  const { block, book } = job
  const { header, headerHash } = block
  const term = await termOf(context, header, slot)
  const waiting = await followQuestions(context, book, verdict, open, slot)
  const isKnown = (question: OpenQuestion['question']) =>
    question.kind === 'chunk' || book.nodes.has(subjectOf(question))
  if (await expireOverdue(context, waiting, term, isKnown, slot)) return { kind: 'waiting' }
  const answers: Answers = async (questions) => {
    const given: NodeAnswer[] = []
    for (const question of questions) {
      const wanted = { ...question, root }
      const answer = book.nodes.get(subjectOf(wanted))
      if (answer === 'unreadable')
        throw new Stopped({ kind: 'none', why: 'an answer of the summons cannot be read' })
      if (answer !== undefined) given.push(answer)
      if (answer !== undefined) continue
      if (await reliesOnAsked(context, book, waiting, wanted, term)) continue
      if (!term.isInTime)
        throw new Stopped({ kind: 'none', why: 'a question would end too late for a removal' })
      if (!(await ask(context, { headerHash, header }, wanted, term, slot))) break
    }
    if (given.length < questions.length) throw new Stopped({ kind: 'waiting' })
    return given
  }
  try {
    const found = await search(answers)
    return found === undefined ? none : { kind: 'found', found }
  } catch (error) {
    if (error instanceof Stopped) return error.hidden
    throw error
  }
}
