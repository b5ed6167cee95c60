import { blake2b256 } from '@ratatosk/ledger'
import { type Proof, proofToCbor, type Trie, type TrieView } from '@ratatosk/trie'

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

/** Entries of a map, and the map without them: the parts of a payout that come from it. */
export interface TakenWithdrawals {
  readonly entries: ProvenWithdrawal[]
  /** 32 bytes. */
  readonly rootAfter: Uint8Array
}

/**
 * Takes entries out of the map of a settlement, in this order, for `payWithdrawals`.
 *
 * @param map the outputs that left by its block, without those paid: reference CBOR → output CBOR
 * @throws TrieError `TRIE_KEY_MISSING` if one is not owed
 */
export function takeOwed(map: Trie, wanted: readonly OwedWithdrawal[]): TakenWithdrawals {
  const entries = wanted.map(({ outref, output }) => {
    const proven = { outref, output, ...proveOwed(map, outref) }
    map.delete(outref)
    return proven
  })
  return { entries, rootAfter: Uint8Array.from(map.root) }
}

/** Proves that an output is owed. @param map before the output is paid */
function proveOwed(
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
