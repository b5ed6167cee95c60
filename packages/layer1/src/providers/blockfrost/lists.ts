import { Layer1Error } from '../../errors.js'
import { arrayOf, reading } from '../../http/json.js'
import { maxConcurrent } from '../provider.js'

/** Items of a full page, the most that Blockfrost sends. */
export const pageSize = 100
/** Attempts at reading something with several requests and no block in between. */
export const maxReads = 4

interface ListOptions {
  /** Oldest first (`asc`, default) or newest first. */
  readonly order?: 'asc' | 'desc'
  /** Pages to read at most; default all. */
  readonly maxPages?: number
  /** Pages requested together after the first; default 5. */
  readonly width?: number
}

interface OneBlockOptions<T> {
  /** The hash of the newest block, if the caller has just read it. */
  readonly newest?: string
  /** Whether a result comes from a single answer: blocks do not matter then. */
  readonly isAtOnce?: (result: T) => boolean
}

/** Blockfrost's lists, which come in pages. A list that Blockfrost answers with 404 is empty. */
export interface Lists {
  /** The oldest items, at most {@link pageSize}. */
  page(path: string, signal: AbortSignal): Promise<readonly unknown[]>
  /** The items of one or more pages at a time, until the list ends. */
  batches(path: string, signal: AbortSignal, options?: ListOptions): AsyncGenerator<readonly unknown[]>
  /** The whole list as of one block. */
  whole(path: string, signal: AbortSignal): Promise<readonly unknown[]>
  /**
   * Repeats a read until no block came in between, which would shift pages and hide an item.
   * @throws {Layer1Error} `invalid answer` if a block comes in between every time
   */
  asOfOneBlock<T>(
    signal: AbortSignal,
    read: (tipHash: string) => Promise<T>,
    options?: OneBlockOptions<T>,
  ): Promise<T>
}

/** `find` is undefined for 404; `tipHash` is the hash of the newest block. */
export function createLists(
  find: (path: string, signal: AbortSignal) => Promise<unknown>,
  tipHash: (signal: AbortSignal) => Promise<string>,
): Lists {
  async function page(path: string, signal: AbortSignal, number = 1, order = 'asc') {
    const start = `${path}${path.includes('?') ? '&' : '?'}`
    const body = await find(`${start}count=${pageSize}&page=${number}&order=${order}`, signal)
    return body === undefined ? [] : reading('Blockfrost', 'a page', () => arrayOf(body))
  }

  async function* batches(
    path: string,
    signal: AbortSignal,
    { order = 'asc', maxPages = Number.POSITIVE_INFINITY, width = maxConcurrent }: ListOptions = {},
  ): AsyncGenerator<readonly unknown[]> {
    for (let first = 1, size = 1; first <= maxPages; first += size, size = width) {
      const numbers = Array.from(
        { length: Math.min(size, maxPages - first + 1) },
        (_, index) => first + index,
      )
      const pages = await Promise.all(numbers.map((number) => page(path, signal, number, order)))
      yield pages.flat()
      if (pages.some(({ length }) => length < pageSize)) return
    }
  }

  async function asOfOneBlock<T>(
    signal: AbortSignal,
    read: (tipHash: string) => Promise<T>,
    { newest, isAtOnce }: OneBlockOptions<T> = {},
  ): Promise<T> {
    let before = newest ?? (await tipHash(signal))
    for (let reads = 0; reads < maxReads; reads++) {
      const result = await read(before)
      if (isAtOnce?.(result)) return result
      const after = await tipHash(signal)
      if (after === before) return result
      before = after
    }
    throw new Layer1Error('LAYER1_INVALID_ANSWER', 'A block changed the list each time it was read')
  }

  return {
    page,
    batches,
    asOfOneBlock,
    async whole(path, signal) {
      const first = await page(path, signal)
      if (first.length < pageSize) return first
      return asOfOneBlock(signal, async () => {
        const items: unknown[] = []
        for await (const found of batches(path, signal)) items.push(...found)
        return items
      })
    },
  }
}
