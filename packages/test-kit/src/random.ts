/** Numbers from 0 to below 1. */
export type Random = () => number

/** Mulberry32: the same numbers for the same seed. */
export function generator(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T
}

/** Random bytes in hex. */
export function hex(random: Random, bytes: number): string {
  return Array.from({ length: bytes }, () =>
    Math.floor(random() * 256)
      .toString(16)
      .padStart(2, '0'),
  ).join('')
}

/** A text in hex with one digit replaced. */
export function mutated(random: Random, text: string): string {
  const at = Math.floor(random() * text.length)
  return text.slice(0, at) + pick(random, [...'0123456789abcdef']) + text.slice(at + 1)
}
