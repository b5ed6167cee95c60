/** Keeps what never changes, such as a script behind its hash: the newest `size` of it. */
export function createMemo<T>(size: number): (key: string, load: () => Promise<T>) => Promise<T> {
  const kept = new Map<string, T>()
  return async (key, load) => {
    const known = kept.get(key)
    if (known !== undefined) return known
    const value = await load()
    const oldest = kept.keys().next()
    if (kept.size >= size && !oldest.done) kept.delete(oldest.value)
    kept.set(key, value)
    return value
  }
}

/** Keeps one value for a while. */
export function createBriefMemo<T>(milliseconds: number): (load: () => Promise<T>) => Promise<T> {
  let kept: { readonly value: T; readonly until: number } | undefined
  return async (load) => {
    if (kept && performance.now() < kept.until) return kept.value
    const value = await load()
    kept = { value, until: performance.now() + milliseconds }
    return value
  }
}
