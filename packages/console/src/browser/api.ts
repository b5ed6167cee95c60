/** An answer of the node other than 200. The message is the node's. */
export class AnswerError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

/**
 * Reads JSON from the node that serves the page. Paths are relative, so that a proxy may move all of it.
 *
 * @throws {AnswerError} for an answer other than 200
 * @throws {TypeError} if the node cannot be reached
 */
export async function read<T>(path: string): Promise<T> {
  const answer = await fetch(path, { headers: { accept: 'application/json' } })
  const body: unknown = await answer.json()
  if (answer.ok) return body as T
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
  throw new AnswerError(answer.status, typeof error === 'string' ? error : `Status ${answer.status}`)
}
