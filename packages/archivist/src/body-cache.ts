import { LRUCache } from 'lru-cache'

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
