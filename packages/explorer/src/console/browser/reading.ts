import { signal } from '@preact/signals'
import { AnswerError } from './api.js'

/** The answer to a request that is sent again and again. */
export function createReading<T>() {
  const answer = signal<T | undefined>(undefined)
  const problem = signal<AnswerError | undefined>(undefined)
  let sent = 0
  let shown = 0
  return {
    /** The newest answer. */
    answer,
    /** The error that came after it. */
    problem,

    /**
     * Takes the outcome of the request just sent, unless a later one's is here already. True for a passing
     * failure, which is worth another request.
     */
    take(outcome: Promise<T>): Promise<boolean> {
      const number = ++sent
      return outcome.then(
        (found) => {
          if (number < shown) return false
          shown = number
          answer.value = found
          problem.value = undefined
          return false
        },
        (error: unknown) => {
          const passes = !(error instanceof AnswerError) || isTemporary(error)
          // While the node cannot be reached, the last answer stays.
          if (number < shown || !(error instanceof AnswerError)) return passes
          const isFirst = answer.peek() === undefined && problem.peek() === undefined
          if (passes && !isFirst) return true
          shown = number
          problem.value = error
          return passes
        },
      )
    },
  }
}

/** Whether an error says nothing about what was asked for: too many requests, or a failure. */
function isTemporary({ status }: AnswerError): boolean {
  return status === 429 || status >= 500
}
