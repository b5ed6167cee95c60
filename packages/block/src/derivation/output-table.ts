import { compareBytes, equalBytes } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeOutputReference,
  encodeOutputReference,
  type OutputReference,
  outputReferenceKey,
} from '@ratatosk/ledger'
import type { TrieOperation } from '@ratatosk/trie'
import type { BlockDiff, ProducedOutput } from '../body.js'
import { isStep, type Steps, sorting } from '../turns.js'
import type { DerivedOutput } from './records.js'

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

/** Bytes of a transaction id and of a hash. */
const hashLength = 32

/** No transaction of the block. */
export const noPosition = -1

const positions = (length: number): Int32Array => new Int32Array(length)

/** The facts known of an output, in bits of its flags. */
export const known = {
  /** The block spends or produces it, and does not only read it. */
  moved: 1,
  /** A transaction has spent or produced it since operations were last given. */
  news: 2,
  /** The operation that was last given for it. */
  inserted: 4,
  deleted: 8,
  path: 16,
  /** It comes from a deposit of the block. */
  deposited: 32,
  /** It is paid to the bridge, and so leaves layer 2. */
  left: 64,
} as const

/**
 * The outputs that a block produces, spends or reads, numbered in the order in which they are named. They are
 * in columns: half a million objects, as many as a body can name, would take a gigabyte.
 */
export class OutputTable {
  readonly #slots = new Map<string, number>()
  #size = 0
  readonly #ids = new Column(bytes, hashLength)
  readonly #indexes = new Column((length) => new Uint16Array(length))
  readonly #hashes = new Column(bytes, hashLength)
  readonly #paths = new Column(bytes, hashLength)
  /** Where its CBOR is in the body of the transaction that produces it. */
  readonly #starts = new Column(whole)
  readonly #lengths = new Column(whole)
  /** The bodies of transactions by position. */
  readonly #sources: Uint8Array[] = []
  /** Outputs whose CBOR is no part of the body. */
  readonly #elsewhere = new Map<number, Uint8Array>()
  /** References that were given to others, who may know them by identity. */
  readonly #given = new Map<number, Uint8Array>()
  readonly #flags = new Column(bytes)
  /** The outputs spent or produced since operations were last given. */
  #news: number[] = []
  /** Position of the transaction that produces it. */
  readonly createdBy = new Column(positions)
  /** Position of the first transaction that spends it. */
  readonly spentBy = new Column(positions)

  get size(): number {
    return this.#size
  }

  /** The number of an output, which is added if it is new. @param key its `outputReferenceKey` */
  add({ transactionId, index }: OutputReference, key: string): number {
    const found = this.#slots.get(key)
    if (found !== undefined) return found
    const slot = this.#size++
    this.#slots.set(key, slot)
    this.#ids.put(slot, transactionId)
    this.#indexes.set(slot, index)
    this.createdBy.set(slot, noPosition)
    this.spentBy.set(slot, noPosition)
    return slot
  }

  /** {@link add}, for one that the block spends or produces. */
  addMoved(reference: OutputReference, key: string): number {
    const slot = this.add(reference, key)
    const flags = this.#flags.get(slot)
    if ((flags & known.news) === 0) this.#news.push(slot)
    this.#flags.set(slot, flags | known.news | known.moved)
    return slot
  }

  find(key: string): number | undefined {
    return this.#slots.get(key)
  }

  /** Notes the body of the next transaction. */
  addSource(body: Uint8Array): void {
    this.#sources.push(body)
  }

  /** Notes that a transaction produces an output. */
  produce(slot: number, output: Uint8Array, position: number): void {
    this.createdBy.set(slot, position)
    this.setHash(slot, blake2b256(output))
    const source = this.#sources[position]
    if (source === undefined || source.buffer !== output.buffer) {
      this.#elsewhere.set(slot, output)
      return
    }
    // May wrap around where the output is in front of the body; it is only added again.
    this.#starts.set(slot, output.byteOffset - source.byteOffset)
    this.#lengths.set(slot, output.length)
  }

  /** Notes an output that comes from a deposit. */
  deposit(slot: number, output: Uint8Array): void {
    this.setHash(slot, blake2b256(output))
    this.#elsewhere.set(slot, output)
  }

  /** The CBOR of an output that the block produces, or that comes from a deposit. */
  output(slot: number): Uint8Array {
    const elsewhere = this.#elsewhere.get(slot)
    if (elsewhere !== undefined) return elsewhere
    const source = this.#sources[this.createdBy.get(slot)] as Uint8Array
    const start = this.#starts.get(slot)
    return source.subarray(start, start + this.#lengths.get(slot))
  }

  /** Whether the block has brought it and not spent it, so that it is unspent after the block. */
  isProduced(slot: number): boolean {
    return !this.isOlder(slot) && this.spentBy.get(slot) === noPosition && !this.has(slot, known.left)
  }

  /** Whether the block spends it, and has not brought it. */
  isSpent(slot: number): boolean {
    return this.isOlder(slot) && this.spentBy.get(slot) !== noPosition
  }

  /** Whether the block has not brought it, by a transaction or a deposit. */
  isOlder(slot: number): boolean {
    return this.createdBy.get(slot) === noPosition && !this.has(slot, known.deposited)
  }

  isMoved(slot: number): boolean {
    return this.has(slot, known.moved)
  }

  has(slot: number, flag: number): boolean {
    return (this.#flags.get(slot) & flag) !== 0
  }

  mark(slot: number, flag: number): void {
    this.#flags.set(slot, this.#flags.get(slot) | flag)
  }

  setHash(slot: number, hash: Uint8Array): void {
    this.#hashes.put(slot, hash)
  }

  /** Blake2b-256 of its CBOR; zeros until it is known. A view. */
  hash(slot: number): Uint8Array {
    return this.#hashes.view(slot)
  }

  /** Writes its hash into `target` from `at` on. */
  copyHash(slot: number, target: Uint8Array, at: number): void {
    this.#hashes.copy(slot, target, at)
  }

  /** CBOR of its reference. */
  outref(slot: number): Uint8Array {
    const given = this.#given.get(slot)
    if (given !== undefined) return given
    return encodeOutputReference({ transactionId: this.#ids.view(slot), index: this.#indexes.get(slot) })
  }

  /** CBOR of its reference: the same array with each call from now on. */
  giveOutref(slot: number): Uint8Array {
    const outref = this.outref(slot)
    this.#given.set(slot, outref)
    return outref
  }

  /** Blake2b-256 of its reference, if that is known. */
  knownPath(slot: number): Uint8Array | undefined {
    return this.has(slot, known.path) ? this.#paths.view(slot) : undefined
  }

  /** Blake2b-256 of its reference. @param outref its CBOR */
  path(slot: number, outref: Uint8Array): Uint8Array {
    const path = this.knownPath(slot)
    if (path !== undefined) return path
    const hashed = blake2b256(outref)
    this.#paths.put(slot, hashed)
    this.mark(slot, known.path)
    return hashed
  }

  /** The operations on the trie of unspent outputs by what the block has moved since the last call. */
  takeOperations(): readonly TrieOperation[] {
    const operations: TrieOperation[] = []
    for (const slot of this.#news) {
      const flags = this.#flags.get(slot) & ~known.news
      this.#flags.set(slot, flags)
      const isNew = (flags & (known.inserted | known.deleted)) === 0
      if (this.isProduced(slot)) {
        const key = this.outref(slot)
        const path = this.path(slot, key)
        operations.push({ type: 'insert', key, path, valueHash: this.hash(slot) })
        this.#note(slot, known.inserted)
      } else if ((flags & known.inserted) !== 0 || (isNew && this.isOlder(slot))) {
        const key = this.giveOutref(slot)
        operations.push({ type: 'delete', key, path: this.path(slot, key) })
        this.#note(slot, known.deleted)
      }
    }
    this.#news = []
    return operations
  }

  #note(slot: number, operation: number): void {
    const others = this.#flags.get(slot) & ~(known.inserted | known.deleted)
    this.#flags.set(slot, others | operation)
  }

  derived(slot: number): DerivedOutput {
    const [createdBy, spentBy] = [this.createdBy.get(slot), this.spentBy.get(slot)]
    return {
      outref: this.outref(slot),
      createdBy: createdBy === noPosition ? undefined : createdBy,
      spentBy: this.has(slot, known.left) ? 'bridge' : spentBy === noPosition ? undefined : spentBy,
      outputHash: this.hash(slot),
    }
  }

  /** In the order of their references. */
  compare(a: number, b: number): number {
    return this.#ids.compare(a, b) || this.#indexes.compare(a, b)
  }
}

/** The changes of a block to the unspent outputs. */
export function* diffing(outputs: OutputTable): Steps<BlockDiff> {
  const numbers = new Uint32Array(outputs.size)
  let count = 0
  for (let output = 0; output < outputs.size; output++) {
    if (outputs.isSpent(output) || outputs.isProduced(output)) numbers[count++] = output
    if (isStep(output)) yield
  }
  const sorted = yield* sorting(numbers.subarray(0, count), (a, b) => outputs.compare(a, b))
  const spent: Uint8Array[] = []
  const produced: ProducedOutput[] = []
  for (const [place, output] of sorted.entries()) {
    const outref = outputs.outref(output)
    if (outputs.isSpent(output)) spent.push(outref)
    else produced.push({ outref, output: outputs.output(output) })
    if (isStep(place)) yield
  }
  return { spent, produced }
}

/** Whether {@link diffing} leads to this diff. */
export function* comparing(outputs: OutputTable, { spent, produced }: BlockDiff): Steps<boolean> {
  let [mostSpent, mostProduced] = [0, 0]
  for (let output = 0; output < outputs.size; output++) {
    if (outputs.isSpent(output)) mostSpent++
    else if (outputs.isProduced(output)) mostProduced++
  }
  if (spent.length !== mostSpent || produced.length !== mostProduced) return false
  return (
    (yield* naming(
      outputs,
      spent,
      (outref) => outref,
      (output) => outputs.isSpent(output),
    )) &&
    (yield* naming(
      outputs,
      produced,
      ({ outref }) => outref,
      (number, { output }) => outputs.isProduced(number) && equalBytes(outputs.output(number), output),
    ))
  )
}

/** Whether the references of items are those of some outputs, each once, in ascending order. */
function* naming<Item>(
  outputs: OutputTable,
  items: readonly Item[],
  outrefOf: (item: Item) => Uint8Array,
  isRight: (output: number, item: Item) => boolean,
): Steps<boolean> {
  let previous: Uint8Array | undefined
  for (const [place, item] of items.entries()) {
    const outref = outrefOf(item)
    const output = outputs.find(outputReferenceKey(decodeOutputReference(outref)))
    if (output === undefined || !isRight(output, item)) return false
    if (previous !== undefined && compareBytes(previous, outref) >= 0) return false
    previous = outref
    if (isStep(place)) yield
  }
  return true
}
