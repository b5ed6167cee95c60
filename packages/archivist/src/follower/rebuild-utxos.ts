import { encodeOutputReference, toHex } from '@ratatosk/ledger'
import type { Archive } from '../archive.js'
import { partsOfBody } from '../body/decode.js'
import type { GenesisOutput } from './types.js'

export interface RebuildOptions {
  readonly archive: Pick<Archive, 'range' | 'body'>
  /** The outputs that the ledger began with. */
  readonly genesis: readonly GenesisOutput[]
  /** Of the block after which the outputs are asked for; 0: before the first. */
  readonly height: bigint
  /** Ends it. */
  readonly signal?: AbortSignal
}

/** Headers read at a time. */
const pageSize = 100n

/**
 * The unspent outputs after a block, from the bodies of an archive and nothing else. All of them are in memory at once.
 *
 * @returns output by the hex of its reference's CBOR
 * @throws Error where a block is missing
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
          // A copy: the part is a view of everything that was read with it.
          else if (part.kind === 'produced') utxos.set(toHex(part.outref), Uint8Array.from(part.output))
        }
      }
    }
  }
  return utxos
}
