import { expect, test } from 'vitest'
import { readAhead } from './read-ahead.js'

const trace = (height: number) => ({
  base: 0,
  height,
  hashAt: (at: number) => (at >= 1 && at <= height ? new Uint8Array(28).fill(at) : undefined),
})

/** An archive with bodies of a length, which counts what is asked for. */
function archiveOf(length: number) {
  const asked = { bodies: 0, atOnce: 0, most: 0, stopped: 0 }
  return {
    asked,
    sources: {
      header: async () => ({ headerHash: new Uint8Array(28), header: new Uint8Array() }),
      async body(_: Uint8Array, stop?: AbortSignal) {
        stop?.addEventListener('abort', () => asked.stopped++)
        asked.bodies++
        asked.most = Math.max(asked.most, ++asked.atOnce)
        await new Promise((resolve) => setTimeout(resolve, 1))
        asked.atOnce--
        return new Uint8Array(length)
      },
    },
  }
}

const { signal } = new AbortController()
const soon = () => new Promise((resolve) => setTimeout(resolve, 100))

test.for([
  ['small', 1000, 9],
  ['large', 10 << 20, 3],
] as const)('of %s bodies it reads a few ahead, one at a time', async ([, length, most]) => {
  const { asked, sources } = archiveOf(length)
  const blocks = readAhead(trace(100), 1, sources, signal)
  await blocks.next()
  await soon()
  expect(asked.bodies).toBe(most)
  await blocks.next()
  await soon()
  expect(asked).toMatchObject({ bodies: most + 1, most: 1 })
  await blocks.return()
  expect(asked.stopped).toBe(most + 1)
})

test('after a failure it asks for nothing more', async () => {
  const { asked, sources } = archiveOf(1)
  const body = async (hash: Uint8Array) =>
    hash[0] === 2 ? Promise.reject(new Error('it is away')) : sources.body(hash)
  const blocks = readAhead(trace(100), 1, { ...sources, body }, signal)
  await blocks.next()
  await soon()
  expect(asked.bodies).toBe(1)
  const { value } = await blocks.next()
  await expect(value?.body).rejects.toThrow('it is away')
  await blocks.return()
})

test('it ends with the trace', async () => {
  let count = 0
  for await (const { body } of readAhead(trace(20), 3, archiveOf(1).sources, signal)) if (await body) count++
  expect(count).toBe(18)
})
