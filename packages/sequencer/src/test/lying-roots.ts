import { bodyOf, deriveBlock } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import { encodeOutputReference } from '@ratatosk/ledger'
import { answerAboutNode } from '@ratatosk/protocol/fraud'
import {
  createMemoryStore,
  createTrie,
  emptyRoot,
  proofToCbor,
  type Trie,
  type TrieEntry,
} from '@ratatosk/trie'
import type { Roots } from '../roots/index.js'

/** The output that a liar claims without a payment. CBOR of reference and output. */
export const ghost = {
  key: encodeOutputReference({ transactionId: new Uint8Array(32).fill(0xee), index: 0 }),
  output: fromHex(`a20058${'1d'}60${'ab'.repeat(28)}011a3b9aca00`),
}

/** Roots of an operator who adds an output from nowhere to the next block on request. */
export interface LyingRoots extends Roots {
  lie(): void
  /** The outputs with a root that it has had. */
  at(root: Uint8Array): Trie
}

type Outputs = ReadonlyMap<string, Uint8Array>

function trieOf(outputs: Iterable<TrieEntry>): Trie {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  trie.update(Array.from(outputs, ([key, value]) => ({ type: 'insert', key, value })))
  return trie
}

export function openLyingRoots(): LyingRoots {
  const states = new Map<string, { readonly outputs: Outputs; readonly trie: Trie }>()
  let lies = false
  let present: { readonly outputs: Outputs; readonly trie: Trie }

  function enter(outputs: Outputs): Uint8Array {
    const trie = trieOf(Array.from(outputs, ([key, value]) => [fromHex(key), value] as const))
    present = { outputs, trie }
    states.set(toHex(trie.root), present)
    return trie.root
  }
  enter(new Map())

  const roots: LyingRoots = {
    root: async () => present.trie.root,
    async apply(transactions) {
      const transactionsRoot = trieOf(deriveBlock(transactions, present.trie.valueHash).entries()).root
      const outputs = new Map(present.outputs)
      const { spent, produced } = bodyOf(transactions)
      for (const key of spent) outputs.delete(toHex(key))
      for (const { outref, output } of produced) outputs.set(toHex(outref), output)
      if (lies) outputs.set(toHex(ghost.key), ghost.output)
      lies = false
      const zeros = emptyRoot()
      return { utxosRoot: enter(outputs), transactionsRoot, depositsRoot: zeros, withdrawalsRoot: zeros }
    },
    applyWithin: (transactions) => roots.apply(transactions),
    prepare: async () => 0,
    free: async () => undefined,
    async revert(root) {
      const state = states.get(toHex(root))
      if (state !== undefined) present = state
      return state !== undefined
    },
    async rebuild(pieces) {
      const outputs = new Map<string, Uint8Array>()
      for await (const piece of pieces)
        for (const { transactionId, index, output } of piece)
          outputs.set(toHex(encodeOutputReference({ transactionId, index })), output)
      return enter(outputs)
    },
    async prove(root, outref) {
      const trie = states.get(toHex(root))?.trie
      if (trie === undefined) return undefined
      const isUnspent = trie.has(outref)
      return { isUnspent, proof: proofToCbor(isUnspent ? trie.prove(outref) : trie.proveAbsence(outref)) }
    },
    async answer(root, question) {
      const trie = states.get(toHex(root))?.trie
      return trie === undefined ? 'not kept' : (answerAboutNode(question, { trie }) ?? 'no such node')
    },
    close: async () => undefined,
    lie() {
      lies = true
    },
    at(root) {
      const state = states.get(toHex(root))
      if (state === undefined) throw new Error('It has never had this root')
      return state.trie
    },
  }
  return roots
}
