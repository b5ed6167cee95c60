import { Readable } from 'node:stream'

/** Parts already read, then the rest. Ending it ends the rest, even unread, so that its `finally` runs. */
export function withAhead<Part>(
  ahead: readonly IteratorResult<Part, void>[],
  rest: AsyncGenerator<Part, void>,
): AsyncIterableIterator<Part, void> {
  const known = [...ahead]
  return {
    next: async () => known.shift() ?? rest.next(),
    return: () => rest.return(),
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** The body of an answer: text if it is short, so that its length is known, or else a stream. */
export async function bodyOf(parts: AsyncGenerator<string | Buffer, void>): Promise<string | Readable> {
  const first = await parts.next()
  const second = await parts.next()
  if (second.done === true) return String(first.value ?? '')
  return Readable.from(withAhead([first, second], parts))
}
