import { type ArchivedBlock, readEncodedBody } from '@ratatosk/block'
import { piecesWithin } from './body-budget.js'
import type { Peer } from './peers.js'
import type { FollowerOptions } from './types.js'

export function ownPeer(blocks: NonNullable<FollowerOptions['own']>): Peer {
  const header = (block: ArchivedBlock | undefined) =>
    block && { headerHash: block.headerHash, header: block.header, height: Number(block.height) }
  return {
    name: 'the blocks of this process',
    headerByHash: async (headerHash) => header(await blocks.byHash(headerHash)),
    headerByHeight: async (height) => header(await blocks.byHeight(BigInt(height))),
    async body(headerHash, share, signal) {
      if ((await blocks.byHash(headerHash)) === undefined) return undefined
      const pieces = piecesWithin(blocks.body(headerHash), share, signal)
      return readEncodedBody(pieces, Number.POSITIVE_INFINITY)
    },
  }
}
