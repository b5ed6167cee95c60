import { shareAnswers } from '@ratatosk/http'
import type { CountedMinutes } from '@ratatosk/ports'
import type { ExplorerOptions } from './options.js'
import { maxMinutes } from './parameters.js'
import type { RatesAnswer } from './schemas/answers.js'

const minuteMs = 60_000
/** Of what was before the start, the newest are counted, if they are all there were or not. */
const lookBack = 20_000
/** Sequences that are counted at a time. */
const step = 10_000
/** How long readers share an answer, in milliseconds. */
const freshMs = 500
/** How long they share what the store has to add up. */
const sumsFreshMs = 5_000
const maxMeasured = 10_000

interface Counted {
  readonly count: (after: bigint, to: bigint, limit: number) => Promise<CountedMinutes>
  /** The sequence before the newest ones, `lookBack` at most. */
  readonly before: (head: bigint) => Promise<bigint>
}

/** Counts what a sequence numbers, by minute. */
class MinuteCounter {
  readonly #counted: Counted
  readonly #minutes = new Map<number, number>()
  /** Everything up to here is counted; undefined until the first count has succeeded. */
  #after: bigint | undefined
  /** Minutes from here on are counted completely, POSIX milliseconds. */
  since = 0

  constructor(counted: Counted) {
    this.#counted = counted
  }

  /** Counts up to a sequence; yields between two steps. */
  async follow(head: bigint): Promise<void> {
    let after = this.#after ?? (await this.#counted.before(head))
    while (after < head) {
      const { minutes, last } = await this.#counted.count(after, head, step)
      for (const { minute, transactions } of minutes) {
        const at = minute.getTime()
        // The first minute of a longer history is not counted completely.
        if (this.#after === undefined && after > 0n && this.since === 0) this.since = at + minuteMs
        this.#minutes.set(at, (this.#minutes.get(at) ?? 0) + transactions)
      }
      after = last ?? head
      this.#after = after
    }
    this.#after = after
  }

  forgetBefore(time: number): void {
    for (const minute of this.#minutes.keys()) if (minute < time) this.#minutes.delete(minute)
  }

  /** Undefined if the minute is not counted completely. */
  at(minute: number): number | undefined {
    return minute < this.since ? undefined : (this.#minutes.get(minute) ?? 0)
  }
}

/** The events of each minute. */
export interface Rates {
  /** Counts what has happened since the last call. */
  follow(): Promise<void>
  /** Body of `GET /explorer/rates`; read once for all numbers of minutes. */
  answer(count: number): Promise<RatesAnswer>
}

/** Counts acceptances and rejections by minute; the store has the rest. */
export function createRates({
  reads,
  ledger,
  clock = Date.now,
}: Pick<ExplorerOptions, 'reads' | 'ledger' | 'clock'>): Rates {
  const accepted = new MinuteCounter({
    count: (after, to, limit) => reads.accepted(after, to, limit),
    before: (head) => reads.acceptedBefore(head, lookBack),
  })
  const rejected = new MinuteCounter({
    count: (after, to, limit) => reads.rejected(after, to, limit),
    before: async (head) => (head > lookBack ? head - BigInt(lookBack) : 0n),
  })
  let following: Promise<void> | undefined

  async function follow(): Promise<void> {
    const head = await ledger.head()
    await accepted.follow(head.accepted)
    await rejected.follow(head.rejected)
    const oldest = minuteOf(clock()) - maxMinutes * minuteMs
    for (const counter of [accepted, rejected]) counter.forgetBefore(oldest)
  }

  /** One at a time: two would count the same twice. */
  function followOnce(): Promise<void> {
    following ??= follow().finally(() => {
      following = undefined
    })
    return following
  }

  /** The first of the minutes that are kept. */
  const oldestNow = () => minuteOf(clock()) - (maxMinutes - 1) * minuteMs

  function sums() {
    const since = new Date(oldestNow())
    return Promise.all([
      reads.moved('committed', since),
      reads.moved('merged', since),
      reads.delay('committed', since, maxMeasured),
      reads.delay('merged', since, maxMeasured),
    ])
  }
  const shareSums = shareAnswers<Awaited<ReturnType<typeof sums>>>(sumsFreshMs)

  /** About all minutes that are kept. */
  async function answer(): Promise<RatesAnswer> {
    await followOnce()
    const [committed, merged, toCommitted, toMerged] = await shareSums('', sums)
    const oldest = oldestNow()
    const counts = (found: typeof committed) =>
      new Map(found.map(({ minute, transactions }) => [minute.getTime(), transactions]))
    const [commits, merges] = [counts(committed), counts(merged)]
    return {
      since: new Date(Math.max(oldest, accepted.since, rejected.since)).toISOString(),
      minutes: Array.from({ length: maxMinutes }, (_, position) => {
        const at = oldest + position * minuteMs
        const [acceptances, rejections] = [accepted.at(at), rejected.at(at)]
        return {
          at: new Date(at).toISOString(),
          ...(acceptances !== undefined && { accepted: acceptances }),
          ...(rejections !== undefined && { rejected: rejections }),
          committed: commits.get(at) ?? 0,
          merged: merges.get(at) ?? 0,
        }
      }),
      ...(toCommitted && { acceptedToCommitted: toCommitted }),
      ...(toMerged && { committedToMerged: toMerged }),
    }
  }

  const share = shareAnswers<RatesAnswer>(freshMs)
  return {
    follow: followOnce,
    async answer(count) {
      const { since, minutes, ...delays } = await share('', answer)
      const newest = minutes.slice(-count)
      const latest = Math.max(Date.parse(since), Date.parse(newest[0]?.at ?? since))
      return { since: new Date(latest).toISOString(), minutes: newest, ...delays }
    },
  }
}

function minuteOf(time: number): number {
  return Math.floor(time / minuteMs) * minuteMs
}
