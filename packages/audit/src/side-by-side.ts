/**
 * Does work for each item, for as many at a time as `most`. After a failure it begins nothing.
 *
 * @throws what the first failure threw, once nothing runs any more
 */
export async function sideBySide<T>(
  items: Iterable<T> | AsyncIterable<T>,
  most: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>()
  const failures: unknown[] = []
  try {
    for await (const item of items) {
      const one: Promise<void> = work(item)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => running.delete(one))
      running.add(one)
      if (running.size >= most) await Promise.race(running)
      if (failures.length > 0) break
    }
  } finally {
    await Promise.all(running)
  }
  if (failures.length > 0) throw failures[0]
}

/** Cuts a list into parts with as many items as `most`; the last one may have fewer. */
export async function* inParts<T>(
  items: Iterable<T> | AsyncIterable<T>,
  most: number,
): AsyncGenerator<readonly T[], void> {
  let part: T[] = []
  for await (const item of items) {
    part.push(item)
    if (part.length < most) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}
