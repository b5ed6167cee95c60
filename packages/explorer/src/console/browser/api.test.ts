import { afterEach, expect, test, vi } from 'vitest'
import { AnswerError, read } from './api.js'

afterEach(() => vi.unstubAllGlobals())

test.each([
  ['<html>Bad Gateway</html>', 'Status 502'],
  ['', 'Status 502'],
  ['{"error":"Bad Gateway"}', 'Bad Gateway'],
])('an error with the body %j has a message', async (body, message) => {
  vi.stubGlobal('fetch', async () => new Response(body, { status: 502 }))
  await expect(read('stateQueue')).rejects.toEqual(new AnswerError(502, message))
})
