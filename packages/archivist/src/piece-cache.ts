import { joinPieces } from './answers/join-pieces.js'

/** Keeps what was read last, by the bytes of it. */
export interface PieceCache {
  /**
   * What is kept under a key, or else what `read` gives, which is kept when it has been read to its end. Pieces come out joined to
   * some 64 KiB.
   */
  through(key: string, read: () => AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void>
}

export function createPieceCache(maxBytes: number): PieceCache {
  const kept = new Map<string, { readonly pieces: readonly Uint8Array[]; readonly bytes: number }>()
  let total = 0

  function keep(key: string, pieces: readonly Uint8Array[], bytes: number): void {
    total += bytes - (kept.get(key)?.bytes ?? 0)
    kept.delete(key)
    kept.set(key, { pieces, bytes })
    for (const [oldest, entry] of kept) {
      if (total <= maxBytes) return
      kept.delete(oldest)
      total -= entry.bytes
    }
  }

  return {
    async *through(key, read) {
      const known = kept.get(key)
      if (known) {
        keep(key, known.pieces, known.bytes)
        yield* known.pieces
        return
      }
      let pieces: Uint8Array[] | undefined = []
      let bytes = 0
      for await (const piece of joinPieces(read())) {
        bytes += piece.length
        if (bytes > maxBytes) pieces = undefined
        pieces?.push(piece)
        yield piece
      }
      if (pieces) keep(key, pieces, bytes)
    },
  }
}
