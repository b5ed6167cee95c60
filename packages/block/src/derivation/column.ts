type Items = Uint8Array | Uint16Array | Uint32Array | Int32Array

/** Slots of a page, as bits. */
const pageBits = 12
const pageSlots = 2 ** pageBits
/** Slots of a column with few items. */
const fewSlots = 64

/**
 * A column of a table, zeros at first. It grows by pages: where it has half a million items, a copy of them
 * would take long, and fill the memory with garbage.
 */
export class Column<Page extends Items> {
  readonly #pages: Page[] = []
  readonly #make: (length: number) => Page
  readonly #width: number

  /** @param width items of a slot */
  constructor(make: (length: number) => Page, width = 1) {
    this.#make = make
    this.#width = width
  }

  /** The item of a slot of one. */
  get(slot: number): number {
    return this.#pages[slot >>> pageBits]?.[slot & (pageSlots - 1)] ?? 0
  }

  set(slot: number, item: number): void {
    this.#page(slot)[slot & (pageSlots - 1)] = item
  }

  /** The items of a slot: a view, which is of no use once the next slot is set. */
  view(slot: number): Page {
    const start = (slot & (pageSlots - 1)) * this.#width
    return this.#page(slot).subarray(start, start + this.#width) as Page
  }

  /** Sets all items of a slot. */
  put(slot: number, items: ArrayLike<number>): void {
    this.#page(slot).set(items, (slot & (pageSlots - 1)) * this.#width)
  }

  /** Writes the items of a slot into `target` from `at` on. */
  copy(slot: number, target: Page, at: number): void {
    const page = this.#page(slot)
    const start = (slot & (pageSlots - 1)) * this.#width
    for (let i = 0; i < this.#width; i++) target[at + i] = page[start + i] as number
  }

  /** The first difference between the items of two slots; 0 if there is none. */
  compare(a: number, b: number): number {
    const [first, second] = [this.#page(a), this.#page(b)]
    const [from, against] = [(a & (pageSlots - 1)) * this.#width, (b & (pageSlots - 1)) * this.#width]
    for (let i = 0; i < this.#width; i++) {
      const difference = (first[from + i] as number) - (second[against + i] as number)
      if (difference !== 0) return difference
    }
    return 0
  }

  /** The page of a slot, with room for it. */
  #page(slot: number): Page {
    const number = slot >>> pageBits
    const place = slot & (pageSlots - 1)
    const page = this.#pages[number]
    if (page !== undefined && place * this.#width < page.length) return page
    const slots = number > 0 ? pageSlots : Math.min(pageSlots, Math.max(fewSlots, 2 * place))
    const longer = this.#make(slots * this.#width)
    if (page !== undefined) longer.set(page)
    this.#pages[number] = longer
    return longer
  }
}

export const bytes = (length: number): Uint8Array => new Uint8Array(length)
export const whole = (length: number): Uint32Array => new Uint32Array(length)
