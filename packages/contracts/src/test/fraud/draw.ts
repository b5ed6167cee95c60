/** Draws one of `count` choices; the first is the common one. */
export type Draw = (count: number) => number

/** Numbers by seed (mulberry32), so that a failure can be repeated. */
export function drawing(seed: number): Draw {
  let state = seed
  return (count) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count
  }
}

/** As many items as there may be, at random, in their order. */
export function some<T>(items: readonly T[], most: number, draw: Draw): T[] {
  const rest = [...items]
  while (rest.length > most) rest.splice(draw(rest.length), 1)
  return rest
}
