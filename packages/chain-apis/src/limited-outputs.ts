import type { ChainOutput, ChainOutputQuery, ChainView, ListPart } from './view/chain-view.js'

/** More outputs match than a response without pages may have. */
export class TooManyOutputsError extends Error {
  override readonly name = 'TooManyOutputsError'
  readonly statusCode = 400

  constructor(most: number) {
    super(`More than ${most} outputs match. Ask for fewer, or use an API with pages.`)
  }
}

/**
 * All outputs that match, page by page.
 *
 * @param most how many a response may be made of
 * @throws {TooManyOutputsError} (while it is read) if more match
 */
export async function* limitedPages(
  chain: ChainView,
  query: ChainOutputQuery,
  most: number,
): AsyncGenerator<readonly ChainOutput[], void> {
  let count = 0
  for await (const page of chain.outputPages(query, 'oldest-first')) {
    count += page.length
    if (count > most) throw new TooManyOutputsError(most)
    yield page
  }
}

/**
 * All outputs that match, in memory.
 *
 * @param most how many a response may be made of
 * @throws {TooManyOutputsError} (rejects) if more match
 */
export async function allOutputs(
  chain: ChainView,
  query: ChainOutputQuery,
  most: number,
): Promise<readonly ChainOutput[]> {
  const found: ChainOutput[] = []
  for await (const page of limitedPages(chain, query, most)) found.push(...page)
  return found
}

/**
 * The pages of a response that is sent while it is read.
 *
 * @param most how many outputs a response may have
 * @returns the only page, or all pages
 * @throws {TooManyOutputsError} (rejects) if more match
 */
export async function streamedPages(
  chain: ChainView,
  query: ChainOutputQuery,
  most: number,
  order: NonNullable<ListPart['order']>,
): Promise<readonly ChainOutput[] | AsyncIterable<readonly ChainOutput[]>> {
  const pages = chain.outputPages(query, order)[Symbol.asyncIterator]()
  const rest: AsyncIterable<readonly ChainOutput[]> = { [Symbol.asyncIterator]: () => pages }
  const first = await pages.next()
  if (first.done) return []
  const second = await pages.next()
  if (second.done) return first.value
  const [next] = Number.isFinite(most) ? await chain.outputs(query, { offset: most, limit: 1, order }) : []
  if (next !== undefined) throw new TooManyOutputsError(most)
  return (async function* all() {
    yield first.value
    yield second.value
    yield* rest
  })()
}
