import { signal } from '@preact/signals'

/** An answer of the node that is no success. The message is the node's. */
export class AnswerError extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** The time of `Retry-After`, in milliseconds; undefined without it. */
    readonly retryAfterMs?: number,
  ) {
    super(message)
  }
}

/**
 * Sends a request to the node that serves the page, and returns the answer's JSON, if any. Paths are
 * relative, so that a proxy may move all of it.
 * @throws {AnswerError} for an answer that is no success
 * @throws {TypeError} if the node cannot be reached
 */
export async function call<T>(path: string, init: RequestInit = {}): Promise<T> {
  const answer = await fetch(path, { ...init, headers: { accept: 'application/json', ...init.headers } })
  if (answer.status === 204) return undefined as T
  if (answer.ok) return answer.json()
  // The error of a proxy need not be JSON.
  const body: unknown = await answer.json().catch(() => undefined)
  throw new AnswerError(
    answer.status,
    textOf(body, 'message') ?? textOf(body, 'error') ?? `Status ${answer.status}`,
  )
}

/** Reads JSON, as {@link call} does. */
export function read<T>(path: string): Promise<T> {
  return call(path)
}

/** Blockfrost's errors have a message beside the name of the status. */
function textOf(body: unknown, field: string): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const value: unknown = Object.entries(body).find(([name]) => name === field)?.[1]
  return typeof value === 'string' ? value : undefined
}

/** The token that the operator has typed. It is in the memory of the page only. */
export const token = signal('')
export const asksToken = signal(false)

/**
 * Calls a route of the operator, with a JSON body. Throws as {@link call}; after a 401, {@link asksToken} is
 * set.
 */
export async function operate<T>(path: string, method = 'GET', body?: unknown): Promise<T> {
  const sent = token.value
  const headers = {
    ...(sent !== '' && { authorization: `Bearer ${sent}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  try {
    return await call<T>(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  } catch (error) {
    if (!(error instanceof AnswerError) || error.status !== 401) throw error
    // Another token was given meanwhile. The node has done nothing yet.
    if (sent !== token.value) return operate(path, method, body)
    asksToken.value = true
    throw new AnswerError(401, sent === '' ? 'This needs the operator token' : 'The token is wrong')
  }
}

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
