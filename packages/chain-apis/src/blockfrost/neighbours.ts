import type { ListPart } from '../view/chain-view.js'

/** The lists of what comes before and after a block or an epoch, by the last part of their path. */
export const directions = ['next', 'previous'] as const

/**
 * The first and the last number of a page of such a list; the first is higher if there is none. Pages are
 * oldest first, and those of previous ones begin next to the number.
 */
export function neighbours(
  direction: (typeof directions)[number],
  number: number,
  { offset, limit }: Pick<ListPart, 'offset' | 'limit'>,
  { lowest, highest }: { readonly lowest: number; readonly highest: number },
): { readonly first: number; readonly last: number } {
  return direction === 'next'
    ? { first: number + 1 + offset, last: Math.min(highest, number + offset + limit) }
    : { first: Math.max(lowest, number - offset - limit), last: number - offset - 1 }
}
