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
     * Takes the outcome of the request that was just sent, unless that of a later one is here already.
     *
     * @returns whether it failed for a reason that passes, so that it is worth another request
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
