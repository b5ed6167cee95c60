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

interface Body {
  readonly pieces: readonly Uint8Array[]
  readonly bytes: number
}

/** A body that is being derived at the pace of its fastest reader. */
interface Derivation {
  readonly source: AsyncGenerator<Uint8Array, void>
  readonly pieces: Uint8Array[]
  bytes: number
  readers: number
  /** Pending derivation of the next chunk. */
  next: Promise<void> | undefined
  /** `overflowed`: the chunks did not fit and were dropped. */
  state: 'open' | 'complete' | 'overflowed' | 'failed'
  /** The first chunk that did not fit, until a reader at that position takes over the source. */
  rest?: { readonly piece: Uint8Array; readonly position: number } | undefined
  error?: unknown
}

/** @param maxBytes total size of all chunks; 0 disables caching */
export function createBodyCache(maxBytes: number): BodyCache {
  const kept =
    maxBytes > 0 ? new LRUCache<string, Body>({ maxSize: maxBytes, sizeCalculation: sizeOf }) : undefined
  const derivations = new Map<string, Derivation>()
  let deriving = 0

  const bytes = (): number => deriving + (kept?.calculatedSize ?? 0)

  /** Whether a chunk fits, after least recently read bodies are evicted. */
  function hasRoomFor(length: number): boolean {
    while (bytes() + length > maxBytes && kept !== undefined && kept.size > 0) kept.pop()
    return bytes() + length <= maxBytes
  }

  function drop(key: string, derivation: Derivation): void {
    deriving -= derivation.bytes
    derivation.bytes = 0
    derivation.pieces.length = 0
    if (derivations.get(key) === derivation) derivations.delete(key)
  }

  async function nextPiece(key: string, derivation: Derivation): Promise<IteratorResult<Uint8Array, void>> {
    try {
      return await derivation.source.next()
    } catch (error) {
      // Current readers fail; the next reader starts a new derivation.
      derivation.state = 'failed'
      derivation.error = error
      drop(key, derivation)
      throw error
    }
  }

  async function deriveNext(key: string, derivation: Derivation): Promise<void> {
    const { value, done } = await nextPiece(key, derivation)
    if (done) {
      derivation.state = 'complete'
      const body = { pieces: [...derivation.pieces], bytes: derivation.bytes }
      deriving -= derivation.bytes
      derivation.bytes = 0
      derivations.delete(key)
      kept?.set(key, body)
      return
    }
    if (!hasRoomFor(value.length)) {
      derivation.state = 'overflowed'
      derivation.rest = { piece: value, position: derivation.pieces.length }
      drop(key, derivation)
      return
    }
    derivation.pieces.push(value)
    derivation.bytes += value.length
    deriving += value.length
  }

  return {
    get bytes() {
      return bytes()
    },
    async *read(key, derive) {
      const known = kept?.get(key)
      if (known !== undefined) {
        yield* known.pieces
        return
      }
      let derivation = derivations.get(key)
      if (derivation === undefined) {
        const source = joinPieces(derive())
        derivation = { source, pieces: [], bytes: 0, readers: 0, next: undefined, state: 'open' }
        derivations.set(key, derivation)
      }
      derivation.readers++
      let position = 0
      let rest: Derivation['rest']
      try {
        for (;;) {
          if (derivation.state === 'overflowed') {
            if (derivation.rest?.position === position) {
              rest = derivation.rest
              derivation.rest = undefined
            }
            break
          }
          if (derivation.state === 'failed') throw derivation.error
          const piece = derivation.pieces[position]
          if (piece !== undefined) {
            position++
            yield piece
          } else if (derivation.state === 'complete') {
            return
          } else {
            const current: Derivation = derivation
            current.next ??= deriveNext(key, current).finally(() => {
              current.next = undefined
            })
            await current.next
          }
        }
      } finally {
        derivation.readers--
        const unused = derivation.state === 'open' || derivation.rest !== undefined
        if (derivation.readers === 0 && unused) {
          drop(key, derivation)
          await derivation.source.return()
        }
      }
      if (rest !== undefined) {
        yield rest.piece
        yield* derivation.source
        return
      }
      let skipped = 0
      for await (const piece of joinPieces(derive())) if (skipped++ >= position) yield piece
    },
  }
}

function sizeOf({ bytes }: Body): number {
  return Math.max(1, bytes)
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
