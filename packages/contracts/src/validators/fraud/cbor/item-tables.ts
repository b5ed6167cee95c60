import { FormKind, type Forms, type ItemType, itemTypeNames, itemTypes } from '../../../fraud/item-types.js'

/** How an item is read, by its form. */
export const Reading = {
  /** Another claim is about it. */
  unknown: 0,
  /** It has no form that its type has. */
  strange: 1,
  /** Its first part says what type it is. */
  variant: 2,
  other: 3,
} as const

/** The types of items as bytes, in which the script looks them up. */
export const itemTables = (() => {
  const bounds: bigint[] = []
  /** Numbers below 128 as they are, others by their place in a list. */
  const codeOf = (bound: bigint): number => {
    if (bound < 128n) return Number(bound)
    if (!bounds.includes(bound)) bounds.push(bound)
    return 128 + bounds.indexOf(bound)
  }
  const [unknownForm, strangeForm] = [0, 1]
  const rows = new Array<number>(8).fill(unknownForm)
  const parts: number[] = []
  /** By form. */
  const columns = {
    reading: [Reading.unknown, Reading.strange] as number[],
    kind: [0, 0],
    parts: [0, 0],
    least: [0, 0],
    most: [0, 0],
    isDistinct: [0, 0],
  }
  const numberOf = (type: ItemType | undefined): number => (type ? 1 + itemTypeNames.indexOf(type) : 0)
  for (const name of itemTypeNames) {
    const ofType: Forms = itemTypes[name]
    for (const major of [0, 1, 2, 3, 4, 5, 6, 7] as const) {
      const form = major === 3 || major === 7 ? undefined : ofType[major]
      rows.push(form ? columns.kind.length : strangeForm)
      if (form === undefined) continue
      columns.reading.push(form.kind === 'variant' ? Reading.variant : Reading.other)
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
