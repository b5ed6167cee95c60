import { chunkKey, headerFieldIndex } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import type { SummonsQuestion } from '@ratatosk/contracts'
import {
  answerAboutNode,
  answerIn,
  type ChunkAnswer,
  chunkAnswerFromData,
  encodeChunkAnswer,
  encodeNodeAnswer,
  type NodeAnswer,
  nodeAnswerFromData,
  nodeOfKey,
  type ShownChunkAnswer,
} from '@ratatosk/fraud'
import { blake2b256 } from '@ratatosk/ledger'
import { createMemoryStore, createTrie, type TrieEntry, type TrieView } from '@ratatosk/trie'
import { blockOf, type Committed, chunksOf } from '../../../../../fraud/dist/test/lying-blocks.js'
import type { HiddenBlock } from './hidden-blocks.js'

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
