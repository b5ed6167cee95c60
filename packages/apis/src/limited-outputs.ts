import type { ChainOutput, ChainView, ListPart, OutputQuery } from './view/chain-view.js'

/** More outputs match than a response without pages may have. */
export class TooManyOutputsError extends Error {
  override readonly name = 'TooManyOutputsError'
  readonly statusCode = 400

  constructor(most: number) {
    super(`More than ${most} outputs match. Ask for fewer, or use an API with pages.`)
  }
}

/**
 * All outputs that match.
 *
 * @param most how many a response may be made of
 * @throws {TooManyOutputsError} (rejects) if more match
 */
export async function allOutputs(
  chain: ChainView,
  query: OutputQuery,
  most: number,
  order: NonNullable<ListPart['order']> = 'oldest-first',
): Promise<readonly ChainOutput[]> {
  const found = await chain.outputs(query, { offset: 0, limit: most + 1, order })
  if (found.length > most) throw new TooManyOutputsError(most)
  return found
}
