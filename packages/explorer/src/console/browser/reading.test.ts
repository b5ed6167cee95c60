import { expect, test } from 'vitest'
import { AnswerError } from './api.js'
import { createReading } from './reading.js'

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
