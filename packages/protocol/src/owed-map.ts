import { blake2b256 } from '@ratatosk/ledger'
import { createMemoryStore, createTrie, type Proof, proofToCbor, type TrieView } from '@ratatosk/trie'

/** An output that has left layer 2. */
export interface OwedWithdrawal {
  /** CBOR. */
  readonly outref: Uint8Array
  /** CBOR. */
  readonly output: Uint8Array
}

/** One that is to be paid, with the proof that it is owed. */
export interface ProvenWithdrawal extends OwedWithdrawal {
  /** For the map without the entries before it, as `proofToCbor` of `@ratatosk/trie` writes it. */
  readonly proof: Uint8Array
  /** The children of the last branch on the way to it, if the proof ends there. */
  readonly children?: Uint8Array
}

/** The outputs that a settlement still owes. */
export interface OwedMap {
  /** Equal to the settlement's if the entries are. */
  readonly root: Uint8Array
  /** Those that are left, in the given order. */
  readonly owed: readonly OwedWithdrawal[]
  /**
   * Takes entries out of the map, in this order, for `payWithdrawals`.
   *
   * @throws TrieError `TRIE_KEY_MISSING` if one is not owed
   */
  take(owed: readonly OwedWithdrawal[]): {
    readonly entries: readonly ProvenWithdrawal[]
    readonly rootAfter: Uint8Array
  }
}

/** Opens the map of a settlement. @param owed the outputs that left by its block, without those paid */
export function openOwedMap(owed: readonly OwedWithdrawal[]): OwedMap {
  const map = createTrie({ store: createMemoryStore(), history: 0 })
  map.update(owed.map(({ outref: key, output: value }) => ({ type: 'insert', key, value })))
  const rootNow = () => Uint8Array.from(map.root)
  return {
    get root() {
      return rootNow()
    },
    get owed() {
      return owed.filter(({ outref }) => map.has(outref))
    },
    take(wanted) {
      const entries = wanted.map((each) => {
        const proven = { ...each, ...proveOwed(map, each.outref) }
        map.delete(each.outref)
        return proven
      })
      return { entries, rootAfter: rootNow() }
    },
  }
}

/**
 * Proves that an output is owed, for `payWithdrawals`.
 *
 * @param map what is left of the settlement before the output is paid
 * @throws TrieError `TRIE_KEY_MISSING`
 */
export function proveOwed(
  map: TrieView,
  key: Uint8Array,
): { readonly proof: Uint8Array; readonly children?: Uint8Array } {
  const steps = map.prove(key)
  const last = lastBranch(map, key, steps)
  return { proof: proofToCbor(steps), ...(last && { children: last }) }
}

function lastBranch(map: TrieView, key: Uint8Array, steps: Proof): Uint8Array | undefined {
  if (steps.at(-1)?.type !== 'branch') return undefined
  const depth = steps.slice(0, -1).reduce((above, { skip }) => above + skip + 1, 0)
  const node = map.nodeAt(blake2b256(key), depth)
  return node?.kind === 'branch' ? node.children : undefined
}
