import { setImmediate as nextTurn } from 'node:timers/promises'

interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Turns of the event loop without a further item, after which none is waited for. */
const quietTurns = 3

/**
 * Makes one call of many: whatever is asked for while a call is under way, or turn by turn of the event loop, goes
 * together into the next one: an embedded database lets no request in while it works. All of a
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
      for (let quiet = 0; quiet < quietTurns && waiting.length < most; ) {
        const before = waiting.length
        await nextTurn()
        quiet = waiting.length === before ? quiet + 1 : 0
      }
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
      if (!underWay) void drain()
    })
}
