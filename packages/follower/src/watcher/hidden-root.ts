import { headerFieldIndex } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import { type AccusedBlock, deriveMap, type ProvenFraud } from '@ratatosk/fraud'
import type { OpenQuestion } from '@ratatosk/protocol'
import type { VerdictRecord } from '@ratatosk/store'
import { askAll, expireOverdue, reliesOnAsked, termOf, type WantedQuestion } from './ask.js'
import type { Job, WatcherContext } from './context.js'
import { falseOutput, falseTransactions, type Inquiry, mostAtOnce, Unreadable } from './false-maps.js'
import { subjectOf } from './question-book.js'
import { followQuestions } from './questions.js'

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
