interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * Makes one call of many: whatever is asked for while a call is under way goes together into the next one. All of a
 * call fail or succeed together.
 *
 * @param call takes the items in the order in which they were asked for, and returns as many results.
 */
export function addsInBulk<Item, Result>(
  call: (items: readonly Item[]) => Promise<readonly Result[]>,
  most = 500,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let underWay = false

  async function drain(): Promise<void> {
    underWay = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, most)
      waiting = waiting.slice(most)
      try {
        const results = await call(batch.map(({ item }) => item))
        results.forEach((result, index) => {
          batch[index]?.resolve(result)
        })
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    underWay = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      // After the requests that this turn of the event loop still brings.
      if (!underWay && waiting.length === 1) setImmediate(drain)
    })
}
