import type { Block } from '@ratatosk/store'
import type { Work } from './work.js'

const pageSize = 16n

/** What the store says of the blocks that matter now: of thousands in a queue, those at its two ends. */
export interface LocalBlocks {
  readonly newest: Block | undefined
  /** The newest merged one. */
  readonly confirmed: Block | undefined
  /** The newest that was seen in the queue; undefined where none is in it. */
  readonly standing: Block | undefined
  /** Those behind it that were not seen there yet, the oldest first. */
  readonly flying: readonly Block[]
  /** The oldest unmerged: all that have a transaction to merge them, and some more. */
  readonly oldest: readonly Block[]
}

export async function readLocalBlocks({
  store: { blocks },
  maxUnconfirmed,
}: Pick<Work, 'store' | 'maxUnconfirmed'>): Promise<LocalBlocks> {
  const newest = await blocks.newest()
  const confirmed = await blocks.confirmed()
  const first = (confirmed?.height ?? 0n) + 1n
  const last = newest?.height ?? 0n

  const top: Block[] = []
  for (let to = last; to >= first; to -= pageSize) {
    const from = to - pageSize + 1n
    top.unshift(...(await blocks.range(from < first ? first : from, to)))
    if (top[0] === undefined || !isFlying(top[0])) break
  }
  const begin = top.findLastIndex((block) => !isFlying(block)) + 1

  const oldest: Block[] = []
  for (let from = first; from <= last; from += pageSize) {
    oldest.push(...(await blocks.range(from, from + pageSize - 1n)))
    const leaving = oldest.findIndex(({ mergeTransaction }) => mergeTransaction === undefined)
    if (leaving >= 0 && oldest.length > leaving + maxUnconfirmed) break
  }
  return { newest, confirmed, standing: top[begin - 1], flying: top.slice(begin), oldest }
}

const isFlying = ({ state }: Block): boolean => state === 'built' || state === 'submitted'
