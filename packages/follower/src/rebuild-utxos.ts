import { type Archive, partsOfBody } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { encodeOutputReference } from '@ratatosk/ledger'
import type { GenesisUtxo } from './types.js'

/** Options of {@link rebuildUtxos}. */
export interface RebuildOptions {
  readonly archive: Pick<Archive, 'range' | 'body'>
  /** The genesis outputs of the ledger. */
  readonly genesis: readonly GenesisUtxo[]
  /** Height of the block after which the outputs are wanted; 0 for genesis. */
  readonly height: bigint
  /** Aborts the rebuild. */
  readonly signal?: AbortSignal
}

/** Headers read at a time. */
const pageSize = 100n

/**
 * Derives the unspent outputs after a block from archived bodies alone. Holds all of them in memory.
 *
 * @returns CBOR of each output by the hex of its reference's CBOR
 * @throws Error when the archive lacks a block
 * @example
 * const utxos = await rebuildUtxos({ archive: store.archive, genesis, height: 500n })
 */
export async function rebuildUtxos({
  archive,
  genesis,
  height,
  signal,
}: RebuildOptions): Promise<Map<string, Uint8Array>> {
  const utxos = new Map<string, Uint8Array>()
  for (const { reference, output } of genesis) utxos.set(toHex(encodeOutputReference(reference)), output)
  for (let from = 1n; from <= height; from += pageSize) {
    const to = from + pageSize - 1n < height ? from + pageSize - 1n : height
    const blocks = await archive.range(from, to)
    if (blocks.length !== Number(to - from) + 1)
      throw new Error(`The archive lacks blocks from ${from} to ${to}`)
    for (const { headerHash } of blocks) {
      signal?.throwIfAborted()
      for await (const parts of partsOfBody(archive.body(headerHash), Number.POSITIVE_INFINITY)) {
        for (const part of parts) {
          if (part.kind === 'spent') utxos.delete(toHex(part.outref))
          // A copy, because the part is a view that would keep the whole chunk in memory.
          else if (part.kind === 'produced') utxos.set(toHex(part.outref), Uint8Array.from(part.output))
        }
      }
    }
  }
  return utxos
}
