import { setImmediate } from 'node:timers/promises'

/** Milliseconds of work after which other work runs. */
const turnMs = 10

/** The items of a sequence but for undefined ones, which are steps; other work runs in between. */
export async function* pausing<Item>(items: Iterable<Item | undefined>): AsyncGenerator<Item, void> {
  let since = performance.now()
  for (const item of items) {
    if (item !== undefined) yield item
    if (performance.now() - since < turnMs) continue
    await setImmediate()
    since = performance.now()
  }
}
