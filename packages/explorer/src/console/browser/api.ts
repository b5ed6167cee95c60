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
