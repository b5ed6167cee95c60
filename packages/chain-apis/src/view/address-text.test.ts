import { toHex } from '@ratatosk/cbor'
import { AddressError } from '@ratatosk/ledger'
import { bech32 } from 'bech32'
import fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apis } from '../apis.js'
import { oneOutputChain } from '../test/served-chain.js'
import { addressText, readAddressText, readBech32 } from './address-text.js'

describe('readAddressText', () => {
  it.each([
    'addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz',
    'Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi',
    'DdzFFzCqrhsrcTVhLygT24QwTnNqQqQ8mZrq5jykUzMveU26sxaH529kMpo7VhPrt5pwW3dXeB2k3EEvKcNBR' +
      'mzCfcQ7dTkyGzTs658C',
  ])('reads %s, and addressText writes it', (text) => {
    expect(addressText(readAddressText(text))).toBe(text)
  })

  it.each(['', 'nobody', 'addr_test1', '0OIl', '1'.repeat(2000)])('rejects "%.20s"', (text) => {
    expect(() => readAddressText(text)).toThrow(AddressError)
  })

  it('decodes base58 into the bytes of the address', () => {
    expect(
      toHex(readAddressText('Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi').bytes),
    ).toMatch(/^82d818/)
  })
})

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
