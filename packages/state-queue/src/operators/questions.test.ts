import { expect, test } from 'vitest'
import type { QuestionAnswer } from './answers.js'
import { collectQuestions, partOf } from './questions.js'
import { question } from './test/build.js'

/** Bytes of each of these questions. */
const size = 256 + 66 + 28 + 33

const sourceOf = (...pieces: readonly QuestionAnswer[][]) => ({
  async *read() {
    yield* pieces
  },
})

const numbersOf = (questions: readonly QuestionAnswer[]) =>
  questions.map(({ question }) => Number.parseInt(question, 16))

test.each([
  [0, []],
  [size - 1, []],
  [size, [1]],
  [3 * size + 1, [1, 2, 3]],
  [9 * size, [1, 2, 3, 4, 5, 6, 7]],
])('of more questions than %i bytes hold, those that are due first are kept', async (maxBytes, kept) => {
  for (const pieces of [
    [[7, 6, 5, 4, 3, 2, 1]],
    [[7, 1], [6, 2], [], [5, 3], [4]],
    [[1], [2], [3], [4], [5, 6, 7]],
  ]) {
    const source = sourceOf(...pieces.map((numbers) => numbers.map((number) => question(number))))
    expect(numbersOf(await collectQuestions(source, maxBytes))).toEqual(kept)
  }
})

test('a failure after some pieces fails the whole read', async () => {
  const source = {
    async *read() {
      yield [question(1)]
      throw new Error('layer 1 is unavailable')
    },
  }
  await expect(collectQuestions(source, 10_000)).rejects.toThrow('layer 1 is unavailable')
})

test('a part says whether others follow', () => {
  const questions = [1, 2, 3].map((number) => question(number))
  const part = (offset: number, limit: number) => {
    const { questions: found, hasMore } = partOf(questions, { offset, limit })
    return [numbersOf(found), hasMore]
  }
  expect(part(0, 2)).toEqual([[1, 2], true])
  expect(part(1, 2)).toEqual([[2, 3], false])
  expect(part(3, 1)).toEqual([[], false])
})
