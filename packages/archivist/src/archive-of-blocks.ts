import {
  type Archive,
  type ArchivedBlock,
  createDerivation,
  type Deposit,
  encodeBlockBodyStream,
} from '@ratatosk/block'
import type { BlockCount } from '@ratatosk/ports'
import { createBodyCache } from './body-cache.js'

/** A block of a node, without its transactions. */
export interface NodeBlock extends BlockCount {
  /** Plutus data CBOR. */
  readonly header: Uint8Array
}

/** The blocks of a node. `Store.blocks` of `@ratatosk/store` implements it. */
export interface NodeBlocks {
  byHash(headerHash: Uint8Array): Promise<NodeBlock | undefined>
  byHeight(height: bigint): Promise<NodeBlock | undefined>
  range(from: bigint, to: bigint): Promise<readonly NodeBlock[]>
  /** Transactions in block order: at most `limit`, after the first `offset`. */
  transactionsOf(
    headerHash: Uint8Array,
    part: { readonly offset: number; readonly limit: number },
  ): Promise<readonly { readonly cbor: Uint8Array }[]>
  /** The deposits that a block credits, ascending by id. Needed with a bridge. */
  depositsOf?(headerHash: Uint8Array): Promise<readonly Deposit[]>
}

/** Options of {@link archiveOfBlocks}. */
export interface ArchiveOfBlocksOptions {
  /**
   * Maximum bytes of cached bodies and of bodies that are being derived, together.
   *
   * @defaultValue 67,108,864
   */
  readonly cacheBytes?: number
  /** Hash of the bridge's script, 28 bytes, in a deployment that has one. */
  readonly bridge?: Uint8Array | undefined
}

/** Transactions read at a time, while those before them are decoded. */
const pageSize = 250

/** Layer 1 may have these blocks; `built` blocks were not submitted and `removed` ones are gone. */
const served: ReadonlySet<string> = new Set(['submitted', 'committed', 'mature', 'merged'])

/**
 * Serves the blocks that a node makes as an archive, in the states `submitted`, `committed`, `mature` and
 * `merged`. Each body is derived from the block's deposits and transactions; readers fail if a transaction is
 * missing.
 *
 * @example
 * await server.register(archivist, { archive: archiveOfBlocks(store.blocks), prefix: '/archivist' })
 */
export function archiveOfBlocks(
  blocks: NodeBlocks,
  { cacheBytes = 64 * 1024 * 1024, bridge }: ArchiveOfBlocksOptions = {},
): Archive {
  const cache = createBodyCache(cacheBytes)

  async function depositsOf(headerHash: Uint8Array): Promise<readonly Deposit[]> {
    if (bridge === undefined) return []
    const found = await blocks.depositsOf?.(headerHash)
    if (found === undefined) throw new TypeError('The blocks of a deployment with a bridge need `depositsOf`')
    return found.map(({ id, output }) => ({ id, output }))
  }

  async function* derive({ headerHash, transactions }: NodeBlock): AsyncGenerator<Uint8Array, void> {
    const derivation = createDerivation({ bridge })
    const deposits = await depositsOf(headerHash)
    for (const deposit of deposits) derivation.deposit(deposit)
    const read = async (offset: number) =>
      offset < transactions ? blocks.transactionsOf(headerHash, { offset, limit: pageSize }) : []
    async function* transactionCbors(): AsyncGenerator<Uint8Array, void> {
      let next = read(0)
      for (let offset = 0; offset < transactions; offset += pageSize) {
        const page = await next
        next = read(offset + pageSize)
        // It may not be awaited.
        next.catch(() => undefined)
        for (const { cbor } of page) {
          derivation.add(cbor)
          yield cbor
        }
      }
    }
    const rest = () => ({ ...derivation.diff(), deposits })
    yield* encodeBlockBodyStream(transactions, transactionCbors(), rest)
  }

  return {
    byHash: async (headerHash) => archived(await blocks.byHash(headerHash)),
    byHeight: async (height) => archived(await blocks.byHeight(height)),
    range: async (from, to) => (await blocks.range(from, to)).flatMap((block) => archived(block) ?? []),

    async *body(headerHash) {
      const block = await blocks.byHash(headerHash)
      if (!archived(block) || !block)
        throw new Error(`The archive does not have block ${Buffer.from(headerHash).toString('hex')}`)
      yield* cache.read(Buffer.from(headerHash).toString('latin1'), () => derive(block))
    },
  }
}

function archived(block: NodeBlock | undefined): ArchivedBlock | undefined {
  if (!block || !served.has(block.state)) return undefined
  const { headerHash, height, header, state } = block
  return { headerHash, height, header, merged: state === 'merged' }
}
