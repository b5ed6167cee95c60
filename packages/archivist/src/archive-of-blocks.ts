import { decodeTransaction, effects } from '@ratatosk/ledger'
import type { Archive, ArchivedBlock } from './archive.js'
import { createDiffSum } from './body/diff.js'
import { encodeBlockBodyStream } from './body/encode.js'
import { createPieceCache } from './piece-cache.js'

/** A block as a node keeps it. */
export interface NodeBlock {
  readonly headerHash: Uint8Array
  readonly height: bigint
  /** Plutus data CBOR. */
  readonly header: Uint8Array
  /** `built`, `submitted`, `committed`, `mature`, `merged` or `removed`. */
  readonly state: string
  /** How many transactions it has. */
  readonly transactions: number
}

/** The blocks of a node; `Store.blocks` is one. */
export interface NodeBlocks {
  byHash(headerHash: Uint8Array): Promise<NodeBlock | undefined>
  byHeight(height: bigint): Promise<NodeBlock | undefined>
  range(from: bigint, to: bigint): Promise<readonly NodeBlock[]>
  /** CBOR in block order: at most `limit`, behind the first `after`. */
  transactionsOf(
    headerHash: Uint8Array,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly Uint8Array[]>
}

export interface ArchiveOfBlocksOptions {
  /** Bytes of bodies that are kept, so that several readers do not derive each anew. 64 MiB by default. */
  readonly cacheBytes?: number
}

/** Transactions that are decoded between two looks at whatever else waits. */
const pageSize = 500

/** What layer 1 may have seen, and has not refused. */
const served: ReadonlySet<string> = new Set(['submitted', 'committed', 'mature', 'merged'])

/**
 * The archive that a node's own blocks are, from the state `submitted` on: each body is derived from the block's transactions.
 *
 * @example
 * await server.register(archivist, { archive: archiveOfBlocks(store.blocks), prefix: '/archivist' })
 */
export function archiveOfBlocks(blocks: NodeBlocks, options: ArchiveOfBlocksOptions = {}): Archive {
  const cache = createPieceCache(options.cacheBytes ?? 64 * 1024 * 1024)

  async function* derive({ headerHash, transactions }: NodeBlock): AsyncGenerator<Uint8Array, void> {
    const sum = createDiffSum()
    async function* taken(): AsyncGenerator<Uint8Array, void> {
      for (let after = 0; after < transactions; after += pageSize) {
        for (const cbor of await blocks.transactionsOf(headerHash, { after, limit: pageSize })) {
          sum.add(effects(decodeTransaction(cbor)))
          yield cbor
        }
      }
    }
    yield* encodeBlockBodyStream(transactions, taken(), sum.diff)
  }

  return {
    byHash: async (headerHash) => archived(await blocks.byHash(headerHash)),
    byHeight: async (height) => archived(await blocks.byHeight(height)),
    range: async (from, to) => (await blocks.range(from, to)).flatMap((block) => archived(block) ?? []),

    async *body(headerHash) {
      const block = await blocks.byHash(headerHash)
      if (!archived(block) || !block) throw new Error('There is no such block')
      yield* cache.through(Buffer.from(headerHash).toString('latin1'), () => derive(block))
    },
  }
}

function archived(block: NodeBlock | undefined): ArchivedBlock | undefined {
  if (!block || !served.has(block.state)) return undefined
  const { headerHash, height, header, state } = block
  return { headerHash, height, header, merged: state === 'merged' }
}
