import {
  type Archive,
  type ArchivedBlock,
  createDerivation,
  type Deposit,
  encodeBlockBodyStream,
} from '@ratatosk/block'
import type { BlockCount } from '@ratatosk/ports'
import { LRUCache } from 'lru-cache'

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

/** Minimum length of a chunk, except the last. */
const pieceSize = 65_536

/** Caches the most recently read bodies, and shares one derivation among concurrent readers of a body. */
interface BodyCache {
  /** Bytes of cached bodies and of bodies that are being derived; at most the limit. */
  readonly bytes: number
  /** Yields a body in chunks of 64 KiB, cached at its end if it fits. `derive` repeats the same bytes. */
  read(key: string, derive: () => AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void>
}

/** A body that is being derived at the pace of its fastest reader. */
interface Derivation {
  readonly source: AsyncGenerator<Uint8Array, void>
  readonly pieces: Uint8Array[]
  bytes: number
  readers: number
  /** Pending derivation of the next chunk, or the one that failed. */
  next: Promise<void> | undefined
  /** `overflowed`: the chunks did not fit and were dropped. */
  state: 'open' | 'complete' | 'overflowed'
  /** The first chunk that did not fit, until a reader at that position takes over the source. */
  rest?: { readonly piece: Uint8Array; readonly position: number } | undefined
}

/** @param maxBytes total size of all chunks; 0 disables caching */
export function createBodyCache(maxBytes: number): BodyCache {
  const kept = maxBytes > 0 ? new LRUCache<string, readonly Uint8Array[]>({ maxSize: maxBytes }) : undefined
  const derivations = new Map<string, Derivation>()

  const sizeOfAll = (): number =>
    [...derivations.values()].reduce((sum, { bytes }) => sum + bytes, kept?.calculatedSize ?? 0)

  /** Whether a chunk fits, after least recently read bodies are evicted. */
  function hasRoomFor(length: number): boolean {
    while (sizeOfAll() + length > maxBytes && kept !== undefined && kept.size > 0) kept.pop()
    return sizeOfAll() + length <= maxBytes
  }

  function drop(key: string, derivation: Derivation): void {
    derivation.pieces.length = 0
    if (derivations.get(key) === derivation) derivations.delete(key)
  }

  async function deriveNext(key: string, derivation: Derivation): Promise<void> {
    const { value, done } = await derivation.source.next()
    if (done) {
      derivation.state = 'complete'
      derivations.delete(key)
      kept?.set(key, derivation.pieces, { size: Math.max(1, derivation.bytes) })
    } else if (hasRoomFor(value.length)) {
      derivation.pieces.push(value)
      derivation.bytes += value.length
    } else {
      derivation.state = 'overflowed'
      derivation.rest = { piece: value, position: derivation.pieces.length }
      drop(key, derivation)
    }
  }

  function begin(key: string, source: Derivation['source']): Derivation {
    const begun: Derivation = { source, pieces: [], bytes: 0, readers: 0, next: undefined, state: 'open' }
    derivations.set(key, begun)
    return begun
  }

  /** Yields the chunks that readers share. Returns where a reader goes on with a body that did not fit. */
  async function* shared(key: string, derivation: Derivation) {
    derivation.readers++
    let position = 0
    try {
      for (;;) {
        const piece = derivation.pieces[position]
        if (piece !== undefined) {
          position++
          yield piece
        } else if (derivation.state === 'open') {
          derivation.next ??= deriveNext(key, derivation).then(
            () => {
              derivation.next = undefined
            },
            (error) => {
              // Current readers fail; the next reader starts a new derivation.
              drop(key, derivation)
              throw error
            },
          )
          await derivation.next
        } else break
      }
      const { state, rest } = derivation
      if (state === 'complete') return undefined
      if (rest?.position !== position) return { position }
      derivation.rest = undefined
      return { position, rest: rest.piece }
    } finally {
      derivation.readers--
      const unused = derivation.state === 'open' || derivation.rest !== undefined
      if (derivation.readers === 0 && unused) {
        drop(key, derivation)
        await derivation.source.return()
      }
    }
  }

  return {
    get bytes() {
      return sizeOfAll()
    },
    async *read(key, derive) {
      const known = kept?.get(key)
      if (known !== undefined) {
        yield* known
        return
      }
      const derivation = derivations.get(key) ?? begin(key, joinPieces(derive()))
      const own = yield* shared(key, derivation)
      if (own?.rest !== undefined) {
        yield own.rest
        yield* derivation.source
      } else if (own !== undefined) {
        let skipped = 0
        for await (const piece of joinPieces(derive())) if (skipped++ >= own.position) yield piece
      }
    },
  }
}

/** The same bytes in chunks of about 64 KiB. */
export async function* joinPieces(
  pieces: AsyncIterable<Uint8Array | string>,
): AsyncGenerator<Uint8Array, void> {
  let waiting: Uint8Array[] = []
  let size = 0
  for await (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    waiting.push(bytes)
    size += bytes.length
    if (size < pieceSize) continue
    yield Buffer.concat(waiting, size)
    waiting = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(waiting, size)
}
