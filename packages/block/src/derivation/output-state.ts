import { blake2b256, encodeOutputReference, type OutputReference } from '@ratatosk/ledger'
import type { TrieOperation } from '@ratatosk/trie'

/** An output that a block produces, spends or reads, while the block is derived. */
export interface Output {
  readonly outref: Uint8Array
  createdBy: number | undefined
  spentBy: number | undefined
  /** CBOR; undefined while no transaction has produced it. */
  output: Uint8Array | undefined
  /** Zeros until it is derived. */
  outputHash: Uint8Array
  /** Blake2b-256 of `outref`, once it is needed. */
  path: Uint8Array | undefined
  /** The operation that was last given for it. */
  given: TrieOperation['type'] | undefined
  /** Whether a transaction has spent or produced it since operations were last given. */
  isNews: boolean
}

/** The hash of an output that no transaction has produced. */
export const unknownOutput = new Uint8Array(32)

export const newOutput = (reference: OutputReference): Output => ({
  outref: encodeOutputReference(reference),
  createdBy: undefined,
  spentBy: undefined,
  output: undefined,
  outputHash: unknownOutput,
  path: undefined,
  given: undefined,
  isNews: false,
})

export function pathOf(output: Output): Uint8Array {
  output.path ??= blake2b256(output.outref)
  return output.path
}

/** The hash of an output that the block produces. */
export function hashOf(output: Output): Uint8Array {
  if (output.outputHash === unknownOutput && output.output !== undefined)
    output.outputHash = blake2b256(output.output)
  return output.outputHash
}
