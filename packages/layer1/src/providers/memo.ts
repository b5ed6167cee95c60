import { LRUCache } from 'lru-cache'

/** Remembers the newest `size` values that never change, such as a script by its hash. */
export function createMemo<T extends NonNullable<unknown>>(
  size: number,
): (key: string, load: () => Promise<T>) => Promise<T> {
  const values = new LRUCache<string, T>({ max: size })
  return async (key, load) => {
    const known = values.get(key)
    if (known !== undefined) return known
    const value = await load()
    values.set(key, value)
    return value
  }
}

/** Remembers one value for some milliseconds. */
export function createBriefMemo<T extends NonNullable<unknown>>(
  milliseconds: number,
): (load: () => Promise<T>) => Promise<T> {
  const values = new LRUCache<'value', T>({ max: 1, ttl: milliseconds })
  return async (load) => {
    const known = values.get('value')
    if (known !== undefined) return known
    const value = await load()
    values.set('value', value)
    return value
  }
}
