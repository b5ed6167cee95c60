import { type Profiler as Protocol, Session } from 'node:inspector'
import { basename } from 'node:path'
import { performance } from 'node:perf_hooks'

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
