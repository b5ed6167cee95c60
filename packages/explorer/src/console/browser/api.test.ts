import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { AnswerError, asksToken, createReading, operate, read, token } from './api.js'

const settled = () => new Promise(setImmediate)
const fails = (status: number) => Promise.reject(new AnswerError(status, `Status ${status}`))

test('an answer stays while the node is too busy, fails or cannot be reached', async () => {
  const { answer, problem, take } = createReading<string>()
  take(fails(503))
  await settled()
  expect(problem.value?.message, 'there is no answer yet').toBe('Status 503')
  take(Promise.resolve('one'))
  await settled()
  const noNetwork = () => Promise.reject(new TypeError('no network'))
  for (const fail of [() => fails(429), () => fails(500), () => fails(503), noNetwork]) {
    expect(await take(fail()), 'it is worth another request').toBe(true)
    expect([answer.value, problem.value]).toEqual(['one', undefined])
  }
  expect(await take(fails(404))).toBe(false)
  expect(problem.value?.status, 'it is gone').toBe(404)
  take(fails(503))
  await settled()
  expect(problem.value?.status, 'as it was last known').toBe(404)
})

test('an answer that arrives late does not replace a newer one', async () => {
  const { answer, problem, take } = createReading<string>()
  let late = (_: string) => {}
  take(
    new Promise((resolve) => {
      late = resolve
    }),
  )
  let lateError = (_: unknown) => {}
  take(
    new Promise((_, reject) => {
      lateError = reject
    }),
  )
  take(Promise.resolve('new'))
  await settled()
  late('old')
  lateError(new AnswerError(404, 'it was not there'))
  await settled()
  expect([answer.value, problem.value]).toEqual(['new', undefined])
})

describe('api', () => {
  afterEach(() => vi.unstubAllGlobals())

  test.each([
    ['<html>Bad Gateway</html>', 'Status 502'],
    ['', 'Status 502'],
    ['{"error":"Bad Gateway"}', 'Bad Gateway'],
  ])('an error with the body %j has a message', async (body, message) => {
    vi.stubGlobal('fetch', async () => new Response(body, { status: 502 }))
    await expect(read('stateQueue')).rejects.toEqual(new AnswerError(502, message))
  })
})

describe('operate', () => {
  const right = 'right'
  /** Lets the node answer the requests so far. */
  let answer = () => {}
  /** The values of `authorization` in the requests. */
  const sent: (string | null)[] = []

  beforeEach(() => {
    token.value = ''
    asksToken.value = false
    sent.length = 0
    vi.stubGlobal('fetch', async (_: string, { headers }: RequestInit) => {
      const given = new Headers(headers).get('authorization')
      sent.push(given)
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      return Response.json({ given }, { status: given === `Bearer ${right}` ? 200 : 401 })
    })
  })
  afterEach(() => vi.unstubAllGlobals())

  test('the token is asked for, and a wrong one is named', async () => {
    for (const [given, message] of [
      ['', 'This needs the operator token'],
      ['wrong', 'The token is wrong'],
    ] as const) {
      token.value = given
      asksToken.value = false
      const asked = operate('deadLetters')
      answer()
      await expect(asked).rejects.toMatchObject({ status: 401, message })
      expect(asksToken.value).toBe(true)
    }
  })

  test('an answer to an older token asks for none: the request is repeated with the new one', async () => {
    const asked = operate('deadLetters')
    token.value = right
    answer()
    await vi.waitFor(() => expect(sent).toEqual([null, `Bearer ${right}`]))
    answer()
    expect(await asked).toEqual({ given: `Bearer ${right}` })
    expect(asksToken.value).toBe(false)
  })
})
