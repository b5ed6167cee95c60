/** Milliseconds of work between two pauses. */
const longestRunMs = 10

/** Waits for a macrotask, so that timers and I/O of this thread can run. Browsers lack `setImmediate`. */
export const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))

/**
 * For loops over what others make long: returns a function that pauses if 10 ms have passed since it did so
 * last.
 *
 * @example
 * const pauseIfDue = createPauses()
 * for (const item of items) {
 *   await pauseIfDue()
 *   item.work()
 * }
 */
export function createPauses(): () => Promise<void> {
  let pausedAt = performance.now()
  return async () => {
    if (performance.now() - pausedAt <= longestRunMs) return
    await pause()
    pausedAt = performance.now()
  }
}

/** Items, `length` at a time; the last piece may have fewer. */
export function* inPieces<Item>(items: Iterable<Item>, length: number): Generator<readonly Item[], void> {
  let piece: Item[] = []
  for (const item of items) {
    piece.push(item)
    if (piece.length < length) continue
    yield piece
    piece = []
  }
  if (piece.length > 0) yield piece
}

/** Work that stops at each `yield`, so that other work may run, each within a millisecond. */
export type Steps<Result> = Generator<undefined, Result, undefined>

/** Items of a list between two steps. */
const itemsPerStep = 64

/** Whether a loop makes a step at this item. */
export const isStep = (item: number): boolean => item % itemsPerStep === itemsPerStep - 1

/** Does all work in one turn of the event loop. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Does the work in turns of the event loop of some 10 ms. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  const pauseIfDue = createPauses()
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    await pauseIfDue()
  }
}

/** Items that are sorted, or merged, between two steps. */
const runLength = 1024

/**
 * Sorts numbers; equal ones stay in order.
 *
 * @param numbers is used up
 */
export function* sorting(
  numbers: Uint32Array,
  compare: (a: number, b: number) => number,
): Steps<Uint32Array> {
  const { length } = numbers
  for (let start = 0; start < length; start += runLength) {
    numbers.subarray(start, start + runLength).sort(compare)
    yield
  }
  let from = numbers
  let to: Uint32Array = new Uint32Array(length > runLength ? length : 0)
  for (let width = runLength; width < length; width *= 2) {
    for (let start = 0; start < length; start += 2 * width)
      yield* merging(
        from,
        to,
        start,
        Math.min(start + width, length),
        Math.min(start + 2 * width, length),
        compare,
      )
    ;[from, to] = [to, from]
  }
  return from
}

/** Merges the runs from `start` to `middle` and from there to `end`. */
function* merging(
  from: Uint32Array,
  to: Uint32Array,
  start: number,
  middle: number,
  end: number,
  compare: (a: number, b: number) => number,
): Steps<void> {
  let [left, right] = [start, middle]
  for (let place = start; place < end; place++) {
    const isLeft =
      right >= end || (left < middle && compare(from[left] as number, from[right] as number) <= 0)
    to[place] = from[isLeft ? left++ : right++] as number
    if (place % runLength === 0) yield
  }
}
