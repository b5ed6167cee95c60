/** Words of 4 bytes that are kept of an id: equal ones take 2^64 attempts to make. */
const words = 4

/**
 * The block of each transaction: a hash table of 20 bytes a slot, at least a third of them used, so at most
 * 60 bytes for each transaction, and half as much again while it grows.
 */
export class TransactionTable {
  #slots = 1024
  #ids = new Uint32Array(this.#slots * words)
  /** 0 in a free slot. */
  #heights = new Uint32Array(this.#slots)
  #used = 0

  /** Height of the block of a transaction; 0 if it is in none. */
  get(id: Uint8Array): number {
    return this.#height(this.#slotOf(wordsOf(id)))
  }

  /** @param height from 1 */
  set(id: Uint8Array, height: number): void {
    this.#put(wordsOf(id), height)
    if (this.#used * 3 > this.#slots * 2) this.#grow()
  }

  /** Forgets a transaction, and closes the gap in the run of slots that it leaves. */
  delete(id: Uint8Array): void {
    let gap = this.#slotOf(wordsOf(id))
    if (this.#height(gap) === 0) return
    this.#used--
    for (let slot = this.#next(gap); this.#height(slot) !== 0; slot = this.#next(slot)) {
      const kept = this.#ids.subarray(slot * words, (slot + 1) * words)
      if (this.#distance(this.#home(kept), slot) < this.#distance(gap, slot)) continue
      this.#write(gap, kept, this.#height(slot))
      gap = slot
    }
    this.#heights[gap] = 0
  }

  #put(id: Uint32Array, height: number): void {
    const slot = this.#slotOf(id)
    if (this.#height(slot) === 0) this.#used++
    this.#write(slot, id, height)
  }

  #write(slot: number, id: Uint32Array, height: number): void {
    this.#ids.set(id, slot * words)
    this.#heights[slot] = height
  }

  #height(slot: number): number {
    return this.#heights[slot] ?? 0
  }

  #home(id: Uint32Array): number {
    return (id[0] ?? 0) & (this.#slots - 1)
  }

  #next(slot: number): number {
    return (slot + 1) & (this.#slots - 1)
  }

  #distance(from: number, to: number): number {
    return (to - from) & (this.#slots - 1)
  }

  /** The slot of an id, or the free one where it belongs. */
  #slotOf(id: Uint32Array): number {
    let slot = this.#home(id)
    while (this.#height(slot) !== 0 && id.some((word, i) => this.#ids[slot * words + i] !== word))
      slot = this.#next(slot)
    return slot
  }

  #grow(): void {
    const [ids, heights] = [this.#ids, this.#heights]
    this.#slots *= 2
    this.#ids = new Uint32Array(this.#slots * words)
    this.#heights = new Uint32Array(this.#slots)
    this.#used = 0
    for (const [slot, height] of heights.entries())
      if (height !== 0) this.#put(ids.subarray(slot * words, (slot + 1) * words), height)
  }
}

function wordsOf(id: Uint8Array): Uint32Array {
  const view = new DataView(id.buffer, id.byteOffset, id.byteLength)
  return Uint32Array.from({ length: words }, (_, i) => view.getUint32(4 * i))
}
