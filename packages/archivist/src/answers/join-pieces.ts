/** Bytes of a piece, except the last. */
const pieceSize = 65_536

/** The same bytes in pieces of some 64 KiB, where they come in many small ones. */
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
