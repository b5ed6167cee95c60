import { type ArchivedBlock, type BlockBody, collectParts, partsOfBody } from '@ratatosk/block'
import type { Peer } from './peers.js'
import type { FollowerOptions } from './types.js'

/** Reads a body from its pieces. Rejects if it is damaged. */
export async function readBody(pieces: AsyncIterable<Uint8Array>): Promise<BlockBody> {
  const { add, body } = collectParts()
  for await (const parts of partsOfBody(pieces, Number.POSITIVE_INFINITY)) for (const part of parts) add(part)
  return body
}

/** The blocks of this process, as a peer serves blocks. */
export function ownPeer(blocks: NonNullable<FollowerOptions['own']>): Peer {
  const header = (block: ArchivedBlock | undefined) =>
    block && { headerHash: block.headerHash, header: block.header, height: Number(block.height) }
  return {
    name: 'the blocks of this process',
    headerByHash: async (headerHash) => header(await blocks.byHash(headerHash)),
    headerByHeight: async (height) => header(await blocks.byHeight(BigInt(height))),
    body: async (headerHash) =>
      (await blocks.byHash(headerHash)) === undefined ? undefined : readBody(blocks.body(headerHash)),
  }
}
