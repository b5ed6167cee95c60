/** The most answers that are kept; the oldest makes room, those that are read already first. */
const maxAnswers = 100

interface Answer<T> {
  readonly asked: Promise<T>
  /** Forgets the answer; set once it is read. */
  timer?: NodeJS.Timeout
}

/**
 * Shares answers among all who ask for the same: calls with the same key at the same time, and for `freshMs`
 * afterwards, get one answer. A failure is not kept.
 *
 * @param freshMs milliseconds; 0: only calls at the same time
 * @returns reads the answer under a key, or what another call read
 *
 * @example
 * ```ts
 * const share = shareAnswers<Overview>(500)
 * fastify.get('/overview', () => share('', readOverview))
 * ```
 */
export function shareAnswers<T>(freshMs: number): (key: string, read: () => Promise<T>) => Promise<T> {
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

  return (key, read) => {
    const known = answers.get(key)
    if (known !== undefined) return known.asked
    const answer: Answer<T> = { asked: read() }
    makeRoom()
    answers.set(key, answer)
    const isKept = () => answers.get(key) === answer
    const forget = () => {
      if (isKept()) answers.delete(key)
    }
    answer.asked.then(() => {
      if (freshMs === 0) forget()
      else if (isKept()) answer.timer = setTimeout(forget, freshMs).unref()
    }, forget)
    return answer.asked
  }
}
