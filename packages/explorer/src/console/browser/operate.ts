import { signal } from '@preact/signals'
import { AnswerError, call } from './api.js'

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
