import { blake2b256, encodeOutputReference, type OutputReference } from '@ratatosk/ledger'
import type { DerivedOutput } from './types.js'

/** Bytes of a transaction id and of a hash. */
const hashLength = 32

/** No transaction of the block. */
export const noPosition = -1

/** The known facts of an output, in bits of its flags. */
export const known = {
  /** The block spends or produces it, and does not only read it. */
  moved: 1,
  /** A transaction has spent or produced it since operations were last given. */
  news: 2,
  /** The operation that was last given for it. */
  inserted: 4,
  deleted: 8,
  path: 16,
} as const

/**
 * The outputs that a block produces, spends or reads, numbered as they are named. They are in columns: half a
 * million objects, as many as a body can name, would take a gigabyte.
 */
export class OutputTable {
  readonly #slots = new Map<string, number>()
  #size = 0
  #ids = new Uint8Array(0)
  #indexes = new Uint16Array(0)
  #hashes = new Uint8Array(0)
  #paths = new Uint8Array(0)
  /** Where its CBOR is in the body of the transaction that produces it. */
  #starts = new Uint32Array(0)
  #lengths = new Uint32Array(0)
  /** The bodies of transactions by position. */
  readonly #sources: Uint8Array[] = []
  /** Outputs whose CBOR is no part of the body. */
  readonly #elsewhere = new Map<number, Uint8Array>()
  /** References that were given to others, who may know them by identity. */
  readonly #given = new Map<number, Uint8Array>()
  flags = new Uint8Array(0)
  /** Position of the transaction that produces it. */
  createdBy = new Int32Array(0)
  /** Position of the first transaction that spends it. */
  spentBy = new Int32Array(0)

  get size(): number {
    return this.#size
  }

  /** The number of an output, which is added if it is new. @param key its `outputReferenceKey` */
  add({ transactionId, index }: OutputReference, key: string): number {
    const found = this.#slots.get(key)
    if (found !== undefined) return found
    const slot = this.#size++
    if (slot === this.flags.length) this.#grow(Math.max(64, 2 * slot))
    this.#slots.set(key, slot)
    this.#ids.set(transactionId, slot * hashLength)
    this.#indexes[slot] = index
    this.createdBy[slot] = noPosition
    this.spentBy[slot] = noPosition
    return slot
  }

  find(key: string): number | undefined {
    return this.#slots.get(key)
  }

  /** Notes the body of the next transaction. */
  addSource(body: Uint8Array): void {
    this.#sources.push(body)
  }

  produce(slot: number, output: Uint8Array, position: number): void {
    this.createdBy[slot] = position
    this.setHash(slot, blake2b256(output))
    const source = this.#sources[position]
    if (source === undefined || source.buffer !== output.buffer) {
      this.#elsewhere.set(slot, output)
      return
    }
    // May wrap around where the output is in front of the body; it is only added again.
    this.#starts[slot] = output.byteOffset - source.byteOffset
    this.#lengths[slot] = output.length
  }

  /** The CBOR of an output that the block produces. */
  output(slot: number): Uint8Array {
    const elsewhere = this.#elsewhere.get(slot)
    if (elsewhere !== undefined) return elsewhere
    const source = this.#sources[this.createdBy[slot] as number] as Uint8Array
    const start = this.#starts[slot] as number
    return source.subarray(start, start + (this.#lengths[slot] as number))
  }

  /** Whether the block produces it, and does not spend it. */
  isProduced(slot: number): boolean {
    return this.createdBy[slot] !== noPosition && this.spentBy[slot] === noPosition
  }

  /** Whether the block spends it, and does not produce it. */
  isSpent(slot: number): boolean {
    return this.createdBy[slot] === noPosition && this.spentBy[slot] !== noPosition
  }

  isMoved(slot: number): boolean {
    return ((this.flags[slot] as number) & known.moved) !== 0
  }

  setHash(slot: number, hash: Uint8Array): void {
    this.#hashes.set(hash, slot * hashLength)
  }

  /** Blake2b-256 of its CBOR; zeros until it is known. A view. */
  hash(slot: number): Uint8Array {
    return this.#hashes.subarray(slot * hashLength, (slot + 1) * hashLength)
  }

  /** Writes its hash into `target` from `at` on. */
  copyHash(slot: number, target: Uint8Array, at: number): void {
    const start = slot * hashLength
    for (let i = 0; i < hashLength; i++) target[at + i] = this.#hashes[start + i] as number
  }

  /** CBOR of its reference. */
  outref(slot: number): Uint8Array {
    const given = this.#given.get(slot)
    if (given !== undefined) return given
    const transactionId = this.#ids.subarray(slot * hashLength, (slot + 1) * hashLength)
    return encodeOutputReference({ transactionId, index: this.#indexes[slot] as number })
  }

  /** CBOR of its reference: the same array with each call from now on. */
  giveOutref(slot: number): Uint8Array {
    const outref = this.outref(slot)
    this.#given.set(slot, outref)
    return outref
  }

  /** Blake2b-256 of its reference, if that is known. */
  knownPath(slot: number): Uint8Array | undefined {
    if (((this.flags[slot] as number) & known.path) === 0) return undefined
    return this.#paths.subarray(slot * hashLength, (slot + 1) * hashLength)
  }

  /** Blake2b-256 of its reference. @param outref its CBOR */
  path(slot: number, outref: Uint8Array): Uint8Array {
    const path = this.knownPath(slot)
    if (path !== undefined) return path
    if (this.#paths.length === 0) this.#paths = new Uint8Array(this.flags.length * hashLength)
    const hashed = blake2b256(outref)
    this.#paths.set(hashed, slot * hashLength)
    this.flags[slot] = (this.flags[slot] as number) | known.path
    return hashed
  }

  derived(slot: number): DerivedOutput {
    const [createdBy, spentBy] = [this.createdBy[slot] as number, this.spentBy[slot] as number]
    return {
      outref: this.outref(slot),
      createdBy: createdBy === noPosition ? undefined : createdBy,
      spentBy: spentBy === noPosition ? undefined : spentBy,
      outputHash: this.hash(slot),
    }
  }

  /** In the order of their references. */
  compare(a: number, b: number): number {
    const ids = this.#ids
    const [first, second] = [a * hashLength, b * hashLength]
    for (let i = 0; i < hashLength; i++) {
      const difference = (ids[first + i] as number) - (ids[second + i] as number)
      if (difference !== 0) return difference
    }
    return (this.#indexes[a] as number) - (this.#indexes[b] as number)
  }

  #grow(slots: number): void {
    this.#ids = grown(this.#ids, slots * hashLength)
    this.#hashes = grown(this.#hashes, slots * hashLength)
    if (this.#paths.length > 0) this.#paths = grown(this.#paths, slots * hashLength)
    this.#indexes = grown(this.#indexes, slots)
    this.#starts = grown(this.#starts, slots)
    this.#lengths = grown(this.#lengths, slots)
    this.flags = grown(this.flags, slots)
    this.createdBy = grown(this.createdBy, slots)
    this.spentBy = grown(this.spentBy, slots)
  }
}

type Column = Uint8Array | Uint16Array | Uint32Array | Int32Array

export function grown<Items extends Column>(column: Items, length: number): Items {
  const longer = new (column.constructor as new (length: number) => Items)(length)
  longer.set(column)
  return longer
}
