import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { asksToken, operate, token } from './operate.js'

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

test('an answer to an older token does not ask again: the request is repeated with the new one', async () => {
  const asked = operate('deadLetters')
  token.value = right
  answer()
  await vi.waitFor(() => expect(sent).toEqual([null, `Bearer ${right}`]))
  answer()
  expect(await asked).toEqual({ given: `Bearer ${right}` })
  expect(asksToken.value).toBe(false)
})
