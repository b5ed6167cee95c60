import { subscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { type IncomingMessage, Server } from 'node:http'
import { type Profiler as Protocol, Session } from 'node:inspector'
import { basename } from 'node:path'
import { type PerformanceEntry, PerformanceObserver, performance } from 'node:perf_hooks'

// Measures the turns of the event loop while a server of this process listens. A turn is long if it takes
// more than 250 ms of wall time and 200 ms of this thread's processor time: on a busy machine the first alone
// means little, and a turn that waits does not take the second. Collection of garbage and the code of tests,
// by samples of the stack, do not count.

const most = { wall: 250, processor: 200 }
/** Milliseconds between two measurements; turns that are shorter are measured together. */
const period = 20
/** Requests that a report names. */
const requestsNamed = 3
/** Turns that are judged. */
const mostTurns = 100

/** Milliseconds so far, of turns and of this thread's processor time. */
interface Times {
  readonly at: number
  readonly wall: number
  readonly processor: number
}

/** A turn of the event loop between two times of `performance.now()`. */
interface Turn extends Omit<Times, 'at'> {
  readonly from: number
  readonly to: number
  readonly asked: readonly string[]
}

const requests: string[] = []
let servers = 0
let pauses = 0
let last: Times | undefined

/** Turns do not count until this promise is settled, because a node of this process starts. */
export async function whileStarting<T>(start: () => Promise<T>): Promise<T> {
  pauses++
  try {
    return await start()
  } finally {
    pauses--
    if (last !== undefined) last = now()
  }
}

/** Reports each long turn from now on. Where the processor time of one thread is not known, there is none. */
export function watchTurns(report: (turn: string) => void): void {
  if (processorTime() === undefined) return
  const garbage: PerformanceEntry[] = []
  const collections = new PerformanceObserver((list) => garbage.push(...list.getEntries()))
  const profiler = new Profiler()
  const turns: Turn[] = []
  let timer: NodeJS.Timeout | undefined
  const { listen } = Server.prototype

  function begin(): void {
    if (servers++ > 0) return
    collections.observe({ entryTypes: ['gc'] })
    profiler.start()
    last = now()
    timer = setInterval(measure, period).unref()
  }

  function end(): void {
    if (--servers > 0) return
    clearInterval(timer)
    measure()
    last = undefined
    setImmediate(conclude)
  }

  function measure(): void {
    const from = last
    last = now()
    if (from === undefined || pauses > 0) return
    const turn = { wall: last.wall - from.wall, processor: last.processor - from.processor }
    // Node reports collections after the turn.
    if (isLong(turn))
      setImmediate(withoutGarbage, { ...turn, from: from.at, to: last.at, asked: [...requests] })
    garbage.splice(
      0,
      garbage.findIndex(({ startTime }) => startTime > from.at - 5000),
    )
  }

  function withoutGarbage({ wall, processor, ...turn }: Turn): void {
    garbage.push(...collections.takeRecords())
    const collected = garbage
      .filter(({ startTime, duration }) => startTime + duration > turn.from && startTime < turn.to)
      .reduce((sum, { duration }) => sum + duration, 0)
    const rest = { wall: wall - collected, processor: processor - collected }
    if (isLong(rest) && turns.length < mostTurns) turns.push({ ...turn, ...rest })
  }

  /** Reports the turns that are not the test's. At the end, because reading the samples takes time. */
  function conclude(): void {
    if (turns.length === 0) return
    const samples = profiler.stop()
    for (const { wall, processor, from, to, asked } of turns.splice(0)) {
      const { share, top } = samples(from, to)
      if (!isLong({ wall: wall * share, processor: processor * share })) continue
      report(
        `a turn of ${Math.round(wall)} ms, ${Math.round(processor)} ms of them on the processor; last ` +
          `requests: ${asked.join(', ') || 'none'}; most of it in ${top}`,
      )
    }
  }

  process.on('exit', conclude)
  subscribe('http.server.request.start', (message) => {
    const { method, url } = (message as { request: IncomingMessage }).request
    requests.push(`${method} ${url?.slice(0, 100)}`)
    if (requests.length > requestsNamed) requests.shift()
  })
  Server.prototype.listen = function (this: Server, ...given: unknown[]) {
    this.once('listening', () => {
      begin()
      this.once('close', end)
    })
    return Reflect.apply(listen, this, given)
  } as typeof listen
}

function isLong({ wall, processor }: Omit<Times, 'at'>): boolean {
  return wall > most.wall && processor > most.processor
}

function now(): Times {
  return {
    at: performance.now(),
    wall: performance.eventLoopUtilization().active,
    processor: processorTime() ?? 0,
  }
}

/** Milliseconds for which this thread has run; undefined where that is not known. */
function processorTime(): number | undefined {
  const { threadCpuUsage } = process as { threadCpuUsage?: () => { user: number; system: number } }
  if (threadCpuUsage !== undefined) {
    const { user, system } = threadCpuUsage.call(process)
    return (user + system) / 1000
  }
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6
  } catch {
    return undefined
  }
}

/** Microseconds between two samples. */
const interval = 10_000
/** Functions of a stack that are named. */
const framesNamed = 8
/** Files of tests, and of the packages that run them. */
const ofTests = /\.tap\.m?js$|\/test\/|\/test-kit\/|\/node_modules\/(@tapjs\/|tap|tcompare\/)/
/** Fewer samples say nothing. */
const fewestSamples = 10
/** V8's work between functions. */
const neutral = new Set(['(root)', '(program)', '(idle)', '(garbage collector)'])

export interface Samples {
  /** The part of the samples in which no function of a test is on the stack: 0 to 1. */
  readonly share: number
  /** The function, with its callers, that ran most often in these. */
  readonly top: string
}

export class Profiler {
  readonly #session = new Session()
  #started = false

  start(): void {
    if (this.#started) return
    this.#started = true
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.setSamplingInterval', { interval })
    this.#session.post('Profiler.start')
  }

  /** Ends it. @returns what ran between two times of `performance.now()` */
  stop(): (from: number, to: number) => Samples {
    this.#started = false
    let profile: Protocol.Profile | undefined
    // The answer to a command of the same thread comes at once.
    this.#session.post('Profiler.stop', (_error, answer) => {
      profile = answer?.profile
    })
    this.#session.disconnect()
    if (profile === undefined) throw new Error('The profiler did not answer')
    const { nodes } = profile
    const counts = countSamples(profile)
    return (from, to) => summary(nodes, counts(from, to))
  }
}

/** How often each node of a profile was sampled between two times. */
function countSamples({ samples = [], timeDeltas = [], startTime }: Protocol.Profile) {
  // Both clocks are monotonic; the profile counts microseconds from another zero.
  const zero = Number(process.hrtime.bigint() / 1000n) / 1000 - performance.now()
  return (from: number, to: number): ReadonlyMap<number, number> => {
    const counts = new Map<number, number>()
    let at = startTime / 1000 - zero
    for (const [position, id] of samples.entries()) {
      at += (timeDeltas[position] ?? 0) / 1000
      if (at >= from && at <= to) counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    return counts
  }
}

function summary(nodes: readonly Protocol.ProfileNode[], counts: ReadonlyMap<number, number>): Samples {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  /** A node's frame and those of its callers. */
  function* stack(of: number | undefined): Generator<Protocol.ProfileNode['callFrame']> {
    for (let id = of; id !== undefined; id = parents.get(id)) {
      const node = byId.get(id)
      if (node !== undefined) yield node.callFrame
    }
  }
  const ran = [...counts].filter(([id]) => !neutral.has(byId.get(id)?.callFrame.functionName ?? ''))
  const counted = ran.filter(([id]) => ![...stack(id)].some(({ url }) => ofTests.test(url)))
  const total = (entries: typeof ran) => entries.reduce((sum, [, count]) => sum + count, 0)
  const [most] = counted.toSorted(([, a], [, b]) => b - a)
  const frames = [...stack(most?.[0])].slice(0, framesNamed).map(({ functionName, url, lineNumber }) => {
    const place = url === '' ? '' : ` (${basename(url)}:${lineNumber + 1})`
    return (functionName || 'anonymous') + place
  })
  return {
    share: total(counted) < fewestSamples ? 0 : total(counted) / total(ran),
    top: `${frames.join(' < ')}, ${most?.[1] ?? 0} of ${total(ran)} samples`,
  }
}
