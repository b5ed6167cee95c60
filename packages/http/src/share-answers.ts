/** The most answers that are kept; the oldest makes room. */
const maxAnswers = 100

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
  const answers = new Map<string, Promise<T>>()
  return (key, read) => {
    const known = answers.get(key)
    if (known !== undefined) return known
    const asked = read()
    answers.set(key, asked)
    const [oldest] = answers.keys()
    if (answers.size > maxAnswers && oldest !== undefined) answers.delete(oldest)
    const forget = () => {
      if (answers.get(key) === asked) answers.delete(key)
    }
    asked.then(() => (freshMs === 0 ? forget() : setTimeout(forget, freshMs).unref()), forget)
    return asked
  }
}
