/** Shares reads among callers. Each read begins after its call: per key one runs and one waits. */
export function shareReads<Key, T>(read: (key: Key) => Promise<T>): (key: Key) => Promise<T> {
  const running = new Map<Key, Promise<T>>()
  const waiting = new Map<Key, Promise<T>>()

  async function next(key: Key): Promise<T> {
    await running.get(key)?.catch(() => undefined)
    waiting.delete(key)
    const answer = read(key)
    running.set(key, answer)
    try {
      return await answer
    } finally {
      if (running.get(key) === answer) running.delete(key)
    }
  }

  return (key) => {
    const shared = waiting.get(key) ?? next(key)
    waiting.set(key, shared)
    return shared
  }
}
