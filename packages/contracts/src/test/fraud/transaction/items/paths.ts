import { CborReader, isWellFormed } from '@ratatosk/cbor'

/** Two parts of an item, some of which are not there. */
export const pairs = [
  [0, 1],
  [1, 1],
  [-1, 2],
] as const

/**
 * The path of every item, and of bytes that are not an item: steps count parts and, of maps, name keys too;
 * the content of strings and what is beyond the last part are read as items.
 */
export function* pathsIn(cbor: Uint8Array, path: readonly number[] = []): Generator<readonly number[], void> {
  const reader = new CborReader(cbor)
  const major = reader.peekMajor()
  yield path
  if (major < 2 || path.length > 9) return
  yield [...path, -1]
  if (major === 3 || major === 7) return
  if (major === 2) {
    yield [...path, 0]
    if (reader.tryIndefinite(2)) return
    const content = reader.readBytes()
    if (isWellFormed(content)) yield* pathsIn(content, [...path, 0])
    return
  }
  if (major === 6) {
    reader.readTag()
    yield* pathsIn(cbor.subarray(reader.position), [...path, 0])
    return
  }
  const count = major === 5 ? reader.readMap() : reader.readArray()
  const steps: number[] = []
  const partOf = (): Uint8Array => {
    const start = reader.position
    reader.skip()
    return reader.since(start)
  }
  for (let i = 0; reader.hasNext(count, i); i++) {
    const parts = major === 5 ? [partOf(), partOf()] : [partOf()]
    for (const [place, part] of parts.entries()) {
      steps.push(steps.length)
      yield* pathsIn(part, [...path, steps.length - 1])
      const key = parts[0]![0]!
      if (place === 1 && key < 24 && key !== steps.length - 1) yield* pathsIn(part, [...path, key])
    }
  }
  yield [...path, steps.length]
  yield [...path, 255]
}
