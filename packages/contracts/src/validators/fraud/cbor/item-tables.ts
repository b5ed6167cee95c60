import { FormKind, type Forms, type ItemType, itemTypeNames, itemTypes } from '../../../fraud/item-types.js'

/** The types of items as bytes, in which the script looks them up. */
export const itemTables = (() => {
  const bounds: bigint[] = []
  /** Numbers below 128 as they are, others by their place in a list. */
  const codeOf = (bound: bigint): number => {
    if (bound < 128n) return Number(bound)
    if (!bounds.includes(bound)) bounds.push(bound)
    return 128 + bounds.indexOf(bound)
  }
  const rows = new Array<number>(8).fill(0)
  const parts: number[] = []
  /** By form. There is no form 0. */
  const columns = { kind: [0], parts: [0], least: [0], most: [0], isDistinct: [0] }
  const numberOf = (type: ItemType | undefined): number => (type ? 1 + itemTypeNames.indexOf(type) : 0)
  for (const name of itemTypeNames) {
    const ofType: Forms = itemTypes[name]
    for (const major of [0, 1, 2, 3, 4, 5, 6, 7] as const) {
      const form = major === 3 || major === 7 ? undefined : ofType[major]
      rows.push(form ? columns.kind.length : 0)
      if (form === undefined) continue
      columns.kind.push(FormKind[form.kind])
      columns.parts.push(parts.length)
      columns.least.push(codeOf(form.least))
      columns.most.push(codeOf(form.most))
      columns.isDistinct.push(Number(form.isDistinct))
      parts.push(...form.parts.map(numberOf))
    }
  }
  if (Math.max(parts.length, columns.kind.length) > 255) throw new RangeError('The tables have too many rows')
  return { bounds, rows, columns, parts, numberOf }
})()
