/** A linked list that shares its tail: `mkCons`, `tailList` and the length take constant time. */
export type LinkedList<Item> = Cell<Item> | null

export interface Cell<Item> {
  readonly head: Item
  readonly tail: LinkedList<Item>
  readonly length: number
}

export function cons<Item>(head: Item, tail: LinkedList<Item>): Cell<Item> {
  return { head, tail, length: tail === null ? 1 : tail.length + 1 }
}

export function lengthOf(list: LinkedList<unknown>): number {
  return list === null ? 0 : list.length
}

export function listOf<Item>(items: readonly Item[]): LinkedList<Item> {
  let list: LinkedList<Item> = null
  for (let i = items.length - 1; i >= 0; i--) list = cons(items[i] as Item, list)
  return list
}

export function* itemsOf<Item>(list: LinkedList<Item>): Generator<Item> {
  for (let cell = list; cell !== null; cell = cell.tail) yield cell.head
}

export function arrayOf<Item>(list: LinkedList<Item>): Item[] {
  const items: Item[] = []
  for (let cell = list; cell !== null; cell = cell.tail) items.push(cell.head)
  return items
}
