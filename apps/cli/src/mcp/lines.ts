import type { Readable } from 'node:stream'

/** The lines of a stream, the last also without an end. A too long one is undefined, and is not kept. */
export async function* linesOf(input: Readable, maxBytes: number): AsyncGenerator<string | undefined, void> {
  let pieces: Buffer[] = []
  let bytes = 0
  const add = (piece: Buffer): void => {
    bytes += piece.length
    if (bytes > maxBytes) pieces = []
    else pieces.push(piece)
  }
  const take = (): string | undefined => {
    const line = bytes > maxBytes ? undefined : Buffer.concat(pieces).toString('utf8')
    pieces = []
    bytes = 0
    return line
  }
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      add(chunk.subarray(start, end))
      yield take()
      start = end + 1
    }
    add(chunk.subarray(start))
  }
  if (bytes > 0) yield take()
}
