import { encodeJson } from './json.js'
import { createPause } from './pause.js'

/**
 * A JSON array of what pages of a list become, in parts: no more than a page is in memory.
 *
 * @param itemsOf what a page contributes
 * @returns the parts, of which the first is made, so that what fails at once rejects
 */
export async function jsonList<Entry>(
  pages: AsyncIterable<readonly Entry[]>,
  itemsOf: (page: readonly Entry[]) => readonly unknown[] | Promise<readonly unknown[]>,
): Promise<AsyncIterable<string>> {
  const parts = partsOf(pages, itemsOf)
  const first = await parts.next()
  return (async function* all() {
    if (first.done !== true) yield first.value
    yield* parts
  })()
}

async function* partsOf<Entry>(
  pages: AsyncIterable<readonly Entry[]>,
  itemsOf: Parameters<typeof jsonList<Entry>>[1],
): AsyncGenerator<string, void> {
  const pause = createPause()
  let separator = '['
  for await (const page of pages) {
    let part = ''
    for (const item of await itemsOf(page)) {
      part += separator + encodeJson(item)
      separator = ','
      await pause()
    }
    await pause()
    // A part without items too: the reader may have left, and then no further page is read.
    yield part
  }
  yield separator === '[' ? '[]' : ']'
}
