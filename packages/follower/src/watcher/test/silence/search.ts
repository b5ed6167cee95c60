import { blockVersion, type Header, headerFieldIndex, headerHash } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import { type ProvableRules, verdictPolicies } from '@ratatosk/contracts'
import {
  type AccusedBlock,
  accuse,
  findFraud,
  isFraudError,
  type NextQuestion,
  type ProvenFraud,
} from '@ratatosk/fraud'
import type { Contracts } from '@ratatosk/protocol'
import { falseOutput, falseTransactions, type Inquiry, type SearchedBlock } from '../../false-maps.js'
import { createQuestionBook, type QuestionBook, type Subject, subjectOf } from '../../question-book.js'
import { assemble, chunkQuestion } from '../../unavailable.js'
import type { HiddenBlock } from './hidden-blocks.js'
import type { Withholder } from './withholder.js'

/** The next step of a watcher, as the answers that it has say. */
export type Next =
  | { readonly kind: 'ask'; readonly subjects: readonly Subject[]; readonly about: 'chunks' | 'nodes' }
  | { readonly kind: 'proof'; readonly fraud: string }
  | { readonly kind: 'none'; readonly why: string }

export interface Search {
  readonly book: QuestionBook
  readonly header: Header
  /** Runs the watcher's search with the answers of the book. */
  next(): Promise<Next>
}

class Asked extends Error {
  constructor(readonly questions: readonly NextQuestion[]) {
    super('It asks')
  }
}

export function searchOf(
  { committed, isWithheld, truth }: HiddenBlock,
  { roots }: Withholder,
  endTime: bigint,
  means: { readonly contracts: Contracts; readonly rules: ProvableRules },
): Search {
  const book = createQuestionBook()
  const header: Header = {
    ...roots,
    startTime: endTime - 60_000n,
    endTime,
    prevHeaderHash: new Uint8Array(28),
    operatorVkey: new Uint8Array(28).fill(1),
    blockVersion,
  }
  const { before, outputBefore, deposits, bridge } = committed
  let job: SearchedBlock | undefined
  let accused: AccusedBlock | undefined
  let found: ProvenFraud | undefined

  async function judged(transactions: readonly Uint8Array[]): Promise<SearchedBlock> {
    const block = {
      headerHash: headerHash(header),
      height: 1n,
      header,
      transactions,
      before,
      outputBefore: (key: Uint8Array) => outputBefore?.(key),
      error: new Error('It breaks a rule') as never,
      ...(deposits && { deposits }),
      ...(bridge && { bridge }),
      ...(truth && { afterTransactions: truth }),
    }
    try {
      accused = await accuse(block)
      found = findFraud(accused, means.rules)
    } catch (error) {
      if (!isFraudError(error)) throw error
    }
    return { block, book }
  }

  const inquiry = (root: number): Inquiry => ({
    known: (question) => book.nodes.get(subjectOf({ ...question, root })),
    ask: (questions) => Promise.reject(new Asked(questions)),
  })

  async function hidden(own: SearchedBlock): Promise<Next> {
    if (found !== undefined) return { kind: 'proof', fraud: found.proof.fraud }
    const root = accused === undefined ? headerFieldIndex.transactionsRoot : headerFieldIndex.utxosRoot
    try {
      const fraud =
        accused === undefined
          ? await falseTransactions(inquiry(root), own, means, async (_block, [proven]) => proven)
          : await falseOutput(inquiry(root), own, accused)
      return fraud === undefined
        ? { kind: 'none', why: 'no fraud' }
        : { kind: 'proof', fraud: fraud.proof.fraud }
    } catch (error) {
      if (!(error instanceof Asked)) throw error
      return { kind: 'ask', about: 'nodes', subjects: error.questions.map((each) => ({ ...each, root })) }
    }
  }

  return {
    book,
    header,
    async next() {
      if (job === undefined && !isWithheld) job = await judged(committed.transactions)
      if (job !== undefined) return hidden(job)
      const body = assemble(book)
      if (body.kind === 'unreadable') return { kind: 'none', why: body.reason }
      if (body.kind === 'wanted') {
        const subjects = body.numbers.map((number) => chunkQuestion(header.transactionsRoot, number))
        return { kind: 'ask', about: 'chunks', subjects }
      }
      job = await judged(body.transactions)
      const isTrue = accused !== undefined && truth !== undefined && equalBytes(truth.root, header.utxosRoot)
      // The watcher is not asked about a valid block.
      return isTrue && found === undefined ? { kind: 'none', why: 'valid' } : hidden(job)
    },
  }
}

/** The policies of all frauds. */
export const allPolicies = (rules: ProvableRules) =>
  Object.values(verdictPolicies).map(({ script }) => script(rules))
