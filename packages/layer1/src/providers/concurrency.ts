/**
 * Results in the order of the items, at most `width` under way at once, so that a long list does not spend a provider's allowance
 * of requests in one burst.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  width: number,
  map: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length)
  const queue = items.entries()
  const run = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await map(item)
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, run))
  return results
}
