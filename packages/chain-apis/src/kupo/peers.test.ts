import { knownDeviations, peerCases } from '@ratatosk/test-kit'
import fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apis } from '../apis.js'
import { addressBytes, oneOutputChain, slot } from '../test/one-output.js'

const deviations = knownDeviations('kupo')
const patterns = peerCases<{ pattern: string; valid: boolean }>('kupo-patterns.json')
const queries = peerCases<{ path: string; query: string; expectedStatus: number }>('kupo-queries.json')

const server = fastify()
beforeAll(() => server.register(apis, { chain: oneOutputChain }))
afterAll(() => server.close())
const statusOf = async (url: string) => (await server.inject(url)).statusCode

/** Compares statuses with those of Kupo, but for known deviations, which must be deviations. */
async function expectPeers(cases: readonly (readonly [name: string, url: string, status: number])[]) {
  const wrong: string[] = []
  for (const [name, url, status] of cases) if ((await statusOf(url)) !== status) wrong.push(name)
  const names = new Set(cases.map(([name]) => name))
  expect(wrong).toEqual(Object.keys(deviations).filter((name) => names.has(name)))
  expect(cases.length).toBeGreaterThan(0)
}

test('leaves out an output whose slot has left the range while it was read', async () => {
  const shown = async (query: string) => (await server.inject(`/kupo/matches?${query}`)).json().length
  expect([await shown(`created_before=${slot}`), await shown(`created_before=${slot - 1n}`)]).toEqual([1, 0])
  expect(await shown('spent_after=1')).toBe(0)
})

describe.skipIf(patterns === undefined)('cases of Kupo', () => {
  test('patterns are valid as for Kupo', () =>
    expectPeers(
      (patterns ?? []).map(({ pattern, valid }) => {
        const path = pattern.split('/').map(encodeURIComponent).join('/')
        return [`pattern ${pattern}`, `/kupo/matches/${path}`, valid ? 200 : 400]
      }),
    ))

  test('queries are valid as for Kupo', () =>
    expectPeers(
      (queries ?? []).map(({ path, query, expectedStatus }) => {
        const url = `${path}?${query}`
        const real = url.replace('<slot>', String(slot)).replace(/<[^>]*address[^>]*>/, addressBytes)
        return [url, `/kupo${real}`, expectedStatus]
      }),
    ))
})
