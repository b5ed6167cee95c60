import { blake2b256, encodeOutputReference, type OutputReference } from '@ratatosk/ledger'
import type { TrieOperation } from '@ratatosk/trie'
import { bytes, Column, whole } from './column.js'
import type { DerivedOutput } from './types.js'

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
