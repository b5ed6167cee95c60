/** The longest run that is sorted by insertion. */
const shortLength = 16
/** The fewest entries for which buckets are faster. */
const manyEntries = 4096
/** A mask. */
const bucketsBetweenPauses = 2 ** 12 - 1

/**
 * The numbers below `size`, sorted by their entries: by a prefix of 16 bits, then by `compare`; equal entries
 * stay in order. Paths are hashes, so the prefix nearly sorts them.
 */
export function sortedIndexes(
  size: number,
  prefixOf: (index: number) => number,
  compare: (a: number, b: number) => number,
): Uint32Array {
  const sorted = new Uint32Array(size)
  if (size < manyEntries) {
    for (let index = 0; index < size; index += 1) sorted[index] = index
    return sorted.sort((a, b) => prefixOf(a) - prefixOf(b) || compare(a, b))
  }
  const ends = inBuckets(sorted, prefixOf)
  for (let bucket = 0, start = 0; start < size; bucket += 1) {
    const end = ends[bucket] as number
    sortBucket(sorted, start, end, compare)
    start = end
  }
  return sorted
}

/** {@link sortedIndexes}, with pauses between buckets. */
export async function sortedIndexesInTurns(
  size: number,
  prefixOf: (index: number) => number,
  compare: (a: number, b: number) => number,
  pause: () => Promise<void>,
): Promise<Uint32Array> {
  if (size < manyEntries) return sortedIndexes(size, prefixOf, compare)
  const sorted = new Uint32Array(size)
  const ends = inBuckets(sorted, prefixOf)
  await pause()
  for (let bucket = 0, start = 0; start < size; bucket += 1) {
    const end = ends[bucket] as number
    sortBucket(sorted, start, end, compare)
    if ((bucket & bucketsBetweenPauses) === bucketsBetweenPauses) await pause()
    start = end
  }
  return sorted
}

/** Puts all numbers into buckets by their prefixes. Returns where each bucket ends. */
function inBuckets(sorted: Uint32Array, prefixOf: (index: number) => number): Uint32Array {
  const size = sorted.length
  const ends = new Uint32Array(2 ** 16 + 1)
  for (let index = 0; index < size; index += 1) {
    const bucket = prefixOf(index) + 1
    ends[bucket] = (ends[bucket] as number) + 1
  }
  for (let bucket = 1; bucket < ends.length; bucket += 1)
    ends[bucket] = (ends[bucket] as number) + (ends[bucket - 1] as number)
  // Each bucket's start moves to its end.
  for (let index = 0; index < size; index += 1) {
    const bucket = prefixOf(index)
    const place = ends[bucket] as number
    sorted[place] = index
    ends[bucket] = place + 1
  }
  return ends
}

function sortBucket(
  sorted: Uint32Array,
  start: number,
  end: number,
  compare: (a: number, b: number) => number,
): void {
  if (end - start > shortLength) sorted.subarray(start, end).sort(compare)
  else sortShort(sorted, start, end, compare)
}

function sortShort(
  sorted: Uint32Array,
  start: number,
  end: number,
  compare: (a: number, b: number) => number,
): void {
  for (let next = start + 1; next < end; next += 1) {
    const index = sorted[next] as number
    let place = next
    while (place > start && compare(sorted[place - 1] as number, index) > 0) {
      sorted[place] = sorted[place - 1] as number
      place -= 1
    }
    sorted[place] = index
  }
}
