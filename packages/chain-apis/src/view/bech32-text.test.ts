import { bech32 } from 'bech32'
import fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apis } from '../apis.js'
import { oneOutputChain } from '../test/one-output.js'
import { readBech32 } from './bech32-text.js'

const bytes = new Uint8Array(28).fill(1)
const words = bech32.toWords(bytes)

/** Texts with a valid checksum and 28 bytes, but for the one thing that is wrong. */
const wrong = (prefix: string) => [
  bech32.encode(prefix, [...words, 31], 128),
  bech32.encode(prefix, words.with(-1, (words.at(-1) ?? 0) | 1), 128),
  bech32.encode(prefix, words.slice(0, -1), 128),
  bech32.encode(prefix, bech32.toWords(new Uint8Array(32)), 128),
  bech32.encode(`${prefix}x`, words, 128),
]

describe('readBech32', () => {
  it('reads the bytes under a prefix, in either case', () => {
    const text = bech32.encode('script', words, 128)
    for (const each of [text, text.toUpperCase()])
      expect(readBech32(each, { script: 28 })).toEqual({ prefix: 'script', bytes })
  })

  it.each([...wrong('script'), '', 'script1', `${bech32.encode('script', words, 128)}q`])(
    'refuses %s',
    (text) => {
      expect(readBech32(text, { script: 28 })).toBeUndefined()
    },
  )

  it('has no prefixes of objects', () => {
    expect(readBech32(bech32.encode('constructor', words, 128), { script: 28 })).toBeUndefined()
  })
})

describe('a malformed id in bech32', () => {
  const server = fastify()
  beforeAll(() => server.register(apis, { chain: oneOutputChain }))
  afterAll(() => server.close())
  const query = async (name: string, params: object) => {
    const payload = { jsonrpc: '2.0', method: `queryLedgerState/${name}`, params }
    const { error } = (await server.inject({ method: 'POST', url: '/ogmios', payload })).json()
    return error?.code
  }

  it.each(wrong('addr_vkh'))('is refused as a payment credential: %s', async (text) => {
    expect((await server.inject(`/blockfrost/api/v0/addresses/${text}`)).statusCode).toBe(400)
    expect((await server.inject(`/kupo/matches/${text}/*`)).statusCode).toBe(400)
  })

  it.each(wrong('stake_vkh'))('is refused as a stake credential: %s', async (text) => {
    expect(await query('rewardAccountSummaries', { keys: [text] })).toBe(-32_602)
    expect(await query('projectedRewards', { keys: [text] })).toBe(-32_602)
  })

  it.each(wrong('pool'))('is refused as a pool: %s', async (id) => {
    expect(await query('stakePools', { stakePools: [{ id }] })).toBe(-32_602)
  })
})
