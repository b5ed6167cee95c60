import type { ArchivedBlock, NewArchivedBlock, WritableArchive } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'

export function createMemoryArchive(): WritableArchive {
  let blocks: readonly NewArchivedBlock[] = []
  const byHash = async (hash: Uint8Array) => blocks.find(({ headerHash }) => equalBytes(headerHash, hash))
  return {
    byHash,
    byHeight: async (height) => blocks.find((block) => block.height === height),
    range: async (from, to) => blocks.filter(({ height }) => height >= from && height <= to),
    async *body(hash) {
      const found = await byHash(hash)
      if (found === undefined) throw new Error('The archive lacks the block')
      yield found.body
    },
    tip: async (): Promise<ArchivedBlock | undefined> => blocks.at(-1),
    async put(more) {
      blocks = [...blocks, ...more]
    },
    async markMerged(height) {
      blocks = blocks.map((block) => ({ ...block, merged: block.height <= height }))
    },
    async removeFrom(height) {
      blocks = blocks.filter((block) => block.height < height)
    },
  }
}
