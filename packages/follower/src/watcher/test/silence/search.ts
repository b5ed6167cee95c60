import { blockVersion, chunkKey, type Header, headerFieldIndex, headerHash } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { type ProvableRules, type SummonsQuestion, verdictPolicies } from '@ratatosk/contracts'
import { blake2b256 } from '@ratatosk/ledger'
import type { Contracts } from '@ratatosk/protocol'
import {
  type AccusedBlock,
  accuse,
  answerAboutNode,
  answerIn,
  type ChunkAnswer,
  chunkAnswerFromData,
  encodeChunkAnswer,
  encodeNodeAnswer,
  findFraud,
  isFraudError,
  type NextQuestion,
  type NodeAnswer,
  nodeAnswerFromData,
  nodeOfKey,
  type ProvenFraud,
  type ShownChunkAnswer,
} from '@ratatosk/protocol/fraud'
import { createMemoryStore, createTrie, type TrieEntry, type TrieView } from '@ratatosk/trie'
import { blockOf, type Committed, chunksOf } from '../../../../../protocol/dist/fraud/test/lying-blocks.js'
import { createQuestionBook, type QuestionBook, type Subject, subjectOf } from '../../context.js'
import { falseOutput, falseTransactions, type Inquiry, type SearchedBlock } from '../../hidden-root.js'
import { assemble, chunkQuestion } from '../../unavailable.js'
import type { HiddenBlock } from './hidden-blocks.js'

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

/** Answers with the maps of a header as well as they allow, as a watcher reads it from layer 1. */
export interface Withholder {
  readonly roots: Committed['roots']
  aboutChunk(number: number): ShownChunkAnswer
  /** Undefined where the map has nothing to show. */
  aboutNode(question: Pick<SummonsQuestion, 'kind' | 'root' | 'key' | 'hash'>): NodeAnswer | undefined
}

export function withholderOf({ committed, records, outputs }: HiddenBlock): Withholder {
  const { transactions, chunks: stated, after, outputs: ledger } = committed
  const entries =
    committed.entries ??
    blockOf(transactions, { outputs: ledger.before, entries: () => undefined }).entries ??
    []
  const values = new Map<string, readonly [key: Uint8Array, value: Uint8Array]>()
  for (const [key, value] of entries) values.set(toHex(blake2b256(key)), [key, value])
  const map = records ?? mapOf(entries)
  const chunks = stated ? [...stated] : chunksOf(transactions)
  const entryAt = (path: Uint8Array) => values.get(toHex(path))
  const roots = {
    ...committed.roots,
    transactionsRoot: map.root,
    ...(outputs && { utxosRoot: outputs.root }),
  }

  function openChunk(number: number): ChunkAnswer {
    const path = blake2b256(chunkKey(number))
    const [proof, entry, bytes] = [map.openPath(path).proof, entryAt(path)?.[1], chunks[number]]
    return entry === undefined || bytes === undefined ? { absent: proof } : { entry, proof, parts: [bytes] }
  }
  return {
    roots,
    aboutChunk: (number) =>
      chunkAnswerFromData(answerIn(encodeChunkAnswer(0, openChunk(number)))!, () => undefined),
    aboutNode(question) {
      const trie = question.root === headerFieldIndex.utxosRoot ? (outputs ?? after) : map
      const given = shown(
        { ...question, headerHash: roots.utxosRoot, deadline: 0n, refund: roots.utxosRoot },
        trie,
      )
      if (given === undefined) return undefined
      const redeemer = encodeNodeAnswer(0, question.key, given)
      return nodeAnswerFromData(answerIn(redeemer)!, { ...nodeOfKey(question.key), root: question.root })
    },
  }

  function shown(question: SummonsQuestion, trie: TrieView): NodeAnswer | undefined {
    try {
      return answerAboutNode(question, { trie, entryAt })
    } catch (error) {
      // A false map may have branches that it cannot show.
      if (error instanceof RangeError) return undefined
      throw error
    }
  }
}

function mapOf(entries: Iterable<TrieEntry>): TrieView {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  trie.update(Array.from(entries, ([key, value]) => ({ type: 'insert', key, value })))
  return trie
}
