import { countIds, decodeIds } from './lmdb-rows.js'

/** Ids of nodes from several rows. They are taken in order, so that nodes of one page are freed together. */
export interface ObsoleteIds {
  /** How many are left. */
  readonly left: number
  /** Decodes and sorts one more row; false if that was done for all. */
  readRow(): boolean
  /** Takes the smallest ids, at most `limit`. All rows must have been read. */
  take(limit: number): readonly number[]
}

/** @param rows ids in any order, as {@link encodeIds} writes them */
export function obsoleteIds(rows: readonly Buffer[]): ObsoleteIds {
  const unread = rows.filter(({ length }) => length > 0)
  const lists: { readonly ids: Float64Array; next: number }[] = []
  let left = unread.reduce((sum, row) => sum + countIds(row), 0)

  function takeSmallest(): number | undefined {
    let smallest = Infinity
    let from: (typeof lists)[number] | undefined
    for (const list of lists) {
      const id = list.ids[list.next] ?? Infinity
      if (id >= smallest) continue
      smallest = id
      from = list
    }
    if (from === undefined) return undefined
    from.next += 1
    left -= 1
    return smallest
  }

  return {
    get left() {
      return left
    },

    readRow() {
      const row = unread.pop()
      if (row === undefined) return false
      lists.push({ ids: decodeIds(row).sort(), next: 0 })
      return true
    },

    take(limit) {
      const taken: number[] = []
      while (taken.length < limit) {
        const id = takeSmallest()
        if (id === undefined) break
        taken.push(id)
      }
      return taken
    },
  }
}
