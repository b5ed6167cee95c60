import { inTime, portLimitMs } from './port-results.js'

/** The most answers that are kept; the oldest makes room, those that are read already first. */
const maxAnswers = 100

interface Answer<T> {
  readonly asked: Promise<T>
  readonly since: number
  /** The answer after this one, for calls during its read that it would be too old for. */
  next?: Promise<T>
  /** Forgets the answer; set once it is read. */
  timer?: NodeJS.Timeout
}

/**
 * Shares answers among all who ask for the same: calls with the same key within `freshMs` get one answer. An
 * answer was never read more than `freshMs` before its call, however long the read takes: later calls wait
 * for the next one. A failure is not kept; a read of more than 30 seconds is one.
 *
 * @param freshMs milliseconds; 0: only calls during a read share it
 * @returns reads the answer under a key, or what another call read
 *
 * @example
 * ```ts
 * const share = shareAnswers<Overview>(500)
 * fastify.get('/overview', () => share('', readOverview))
 * ```
 */
export function shareAnswers<T>(freshMs: number): (key: string, read: () => T | Promise<T>) => Promise<T> {
  const answers = new Map<string, Answer<T>>()

  function makeRoom(): void {
    if (answers.size < maxAnswers) return
    const entries = [...answers]
    const chosen = entries.find(([, { timer }]) => timer !== undefined) ?? entries[0]
    if (chosen === undefined) return
    const [key, { timer }] = chosen
    clearTimeout(timer)
    answers.delete(key)
  }

  return function share(key, read): Promise<T> {
    const known = answers.get(key)
    if (known !== undefined) {
      if (freshMs === 0 || performance.now() - known.since <= freshMs) return known.asked
      if (known.timer === undefined) {
        const again = () => share(key, read)
        known.next ??= known.asked.then(again, again)
        return known.next
      }
      clearTimeout(known.timer)
      answers.delete(key)
    }
    const asked = inTime('read', portLimitMs, (async () => read())())
    const answer: Answer<T> = { since: performance.now(), asked }
    makeRoom()
    answers.set(key, answer)
    const isKept = () => answers.get(key) === answer
    const forget = () => {
      if (isKept()) answers.delete(key)
    }
    answer.asked.then(() => {
      const leftMs = answer.since + freshMs - performance.now()
      if (leftMs <= 0) forget()
      else if (isKept()) answer.timer = setTimeout(forget, leftMs).unref()
    }, forget)
    return answer.asked
  }
}
