import type { ChainOutput, ChainOutputQuery, ChainView, ListPart } from './view/chain-view.js'

/** More outputs match than a sum may be made of. */
export class TooManyOutputsError extends Error {
  override readonly name = 'TooManyOutputsError'
  readonly expose = true
  readonly statusCode = 400

  constructor(most: number, what = 'outputs match') {
    super(`More than ${most} ${what}. Read them by pages and add them up.`)
  }
}

/** All matching outputs by page. Throws {@link TooManyOutputsError} while it is read, above `most`. */
export async function* limitedPages(
  chain: ChainView,
  query: ChainOutputQuery,
  most: number,
  order: NonNullable<ListPart['order']> = 'oldest-first',
): AsyncGenerator<readonly ChainOutput[], void> {
  let count = 0
  for await (const page of chain.outputPages(query, order)) {
    count += page.length
    if (count > most) throw new TooManyOutputsError(most)
    yield page
  }
}
