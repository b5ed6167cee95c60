import { readFileSync } from 'node:fs'
import { type PerformanceEntry, PerformanceObserver, performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Profiler } from '../../../../test-kit/dist/turns.js'

/** Milliseconds of a turn of the event loop: of wall time, and of this thread's processor. */
export interface Turn {
  readonly wall: number
  readonly processor: number
}

export interface Figures {
  readonly turn: Turn
  /** The longest wall time of a turn since then. */
  readonly wall: number
  /** The work in those later turns that took long. */
  readonly long: readonly string[]
  /** Bytes. */
  readonly rss: number
  /** Bytes of the heap and of buffers; with garbage, unless it was collected for the figures. */
  readonly held: number
}

/** The shorter of its times: on a busy machine wall time alone means little. */
export const lengthOf = ({ wall, processor }: Turn): number => Math.min(wall, processor)

export const longer = (one: Turn, other: Turn): Turn => (lengthOf(one) < lengthOf(other) ? other : one)

export const noTurn: Turn = { wall: 0, processor: 0 }

/** Milliseconds between two measurements; turns that are shorter are measured together. */
const period = 10
/** Milliseconds from which it is said what ran in a turn. */
const longFrom = 150
/** Turns of which it is said. */
const mostTold = 10

/** Milliseconds of processor time of this thread. */
const processorTime = (): number =>
  Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6

const now = (): Turn => ({ wall: performance.now(), processor: processorTime() })

function openExplainer() {
  const collections: PerformanceEntry[] = []
  const observer = new PerformanceObserver((list) => collections.push(...list.getEntries()))
  observer.observe({ entryTypes: ['gc'] })
  let turns: (Turn & { readonly to: number })[] = []
  let profiler = new Profiler()
  profiler.start()
  return {
    add: (turn: Turn, to: number): unknown => turns.length < mostTold && turns.push({ ...turn, to }),

    /** The work in the turns added since the last call. */
    explain(): readonly string[] {
      if (turns.length === 0) {
        collections.length = 0
        return []
      }
      const samples = profiler.stop()
      const told = turns.map(({ wall, processor, to }) => {
        const from = to - wall
        const garbage = collections
          .filter(({ startTime, duration }) => startTime + duration > from && startTime < to)
          .reduce((sum, { duration }) => sum + duration, 0)
        const [all, own, collected] = [wall, processor, garbage].map(Math.round)
        return `${all}/${own} ms, ${collected} ms of them garbage, in ${samples(from, to).top}`
      })
      collections.length = 0
      turns = []
      profiler = new Profiler()
      profiler.start()
      return told
    },
  }
}

/**
 * Measures this thread from now on.
 *
 * @returns gives the figures since the last call, after a collection of garbage if the caller wants one
 */
export function measure(): (collects: boolean) => Figures {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { add, explain } = openExplainer()
  let [longest, longestWall] = [noTurn, 0]
  let last = now()
  setInterval(() => {
    const { wall, processor } = now()
    const turn = { wall: wall - last.wall, processor: processor - last.processor }
    last = { wall, processor }
    longest = longer(longest, turn)
    longestWall = Math.max(longestWall, turn.wall)
    if (lengthOf(turn) > longFrom) add(turn, wall)
  }, period).unref()
  return (collects) => {
    const long = explain()
    if (collects) collect()
    const { rss, heapUsed, external } = process.memoryUsage()
    const figures = { turn: longest, wall: longestWall, long, rss, held: heapUsed + external }
    ;[longest, longestWall] = [noTurn, 0]
    last = now()
    return figures
  }
}
