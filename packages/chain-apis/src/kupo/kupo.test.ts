import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b224, decodeTransaction, decodeTransactionOutput } from '@ratatosk/ledger'
import { payment } from '@ratatosk/test-kit/ledger-apis'
import { bech32 } from 'bech32'
import { describe, expect, it, test } from 'vitest'
import { chainWith } from '../test/served-chain.js'
import type { ChainOutput } from '../view/chain-view.js'
import { matchesJson } from './matches-json.js'
import { readPattern } from './patterns.js'

describe('match json', () => {
  const address = new Uint8Array(29).fill(0x60, 0, 1)
  const transactionHash = '11'.repeat(32)
  const created = { block: { height: 0, slot: 0n, hash: '00'.repeat(32) }, position: 0 }
  const spenders = ['aa', 'bb'].map((byte) => byte.repeat(32))

  const plain = { resolveHashes: false, quantityText: false }
  const found = spenders.map((spender, index): ChainOutput => {
    const output = decodeTransactionOutput(new CborWriter().array(2).bytes(address).uint(1n).toBytes())
    const spent = { ...created, transactionHash: spender, by: 'inputs' } as const
    return {
      key: `${transactionHash}#${index}`,
      transactionHash,
      index,
      output,
      created,
      collateralReturn: false,
      spent,
    }
  })

  /** A chain that knows so many of the spenders. */
  const chainOf = (known: number) =>
    chainWith({
      transactions: () =>
        new Map(spenders.slice(0, known).map((hash) => [hash, decodeTransaction(payment().cbor)])),
    })

  test('outputs whose spender was undone meanwhile are no answer', async () => {
    expect([...(await matchesJson(chainOf(2), found, plain))]).toHaveLength(2)
    await expect(matchesJson(chainOf(1), found, plain)).rejects.toMatchObject({
      name: 'ChainUnavailableError',
      statusCode: 503,
    })
  })
})

describe('pattern', () => {
  const key = '11'.repeat(32)
  const keyHash = toHex(blake2b224(fromHex(key)))
  const encode = (prefix: string, hex: string) => bech32.encode(prefix, bech32.toWords(fromHex(hex)), 128)

  describe('readPattern', () => {
    it.each([
      ['a hash in hex', keyHash],
      ['a key in hex', key],
      ...['vkh', 'addr_vkh', 'stake_vkh', 'script'].map((prefix) => [prefix, encode(prefix, keyHash)]),
      ...['vk', 'addr_vk', 'stake_vk'].map((prefix) => [prefix, encode(prefix, key)]),
    ])('reads a credential that is given as %s', (_name, credential) => {
      expect(readPattern(`${credential}/*`)?.query).toEqual({ paymentCredential: keyHash })
      expect(readPattern(`*/${credential}`)?.query).toEqual({ stakeCredential: keyHash })
    })

    it('leaves out Byron addresses for */*: they have no credentials', () => {
      const byron = '82d818582183581c9f55ecc68118931f27652f39f44c1d583cc9b002405b84465221800ba0001a71a18634'
      const of = (address: string) => {
        const bytes = new CborWriter().array(2).bytes(fromHex(address)).uint(1n).toBytes()
        return { output: decodeTransactionOutput(bytes) } as ChainOutput
      }
      const [legacy, plain] = [of(byron), of(`60${keyHash}`)]
      expect(['*', '*/*', byron.toUpperCase()].map((text) => readPattern(text)?.matches(legacy))).toEqual([
        true,
        false,
        true,
      ])
      expect(readPattern('*/*')?.matches(plain)).toBe(true)
    })

    it.each([
      ['a key under the prefix of a hash', `${encode('addr_vkh', key)}/*`],
      ['a hash under the prefix of a key', `${encode('addr_vk', keyHash)}/*`],
      ['another prefix', `${encode('pool', keyHash)}/*`],
      ['a wrong checksum', `${encode('addr_vkh', keyHash).slice(0, -1)}!/*`],
      [
        'bits that are left over',
        `${bech32.encode('addr_vkh', [...bech32.toWords(fromHex(keyHash)), 31], 128)}/*`,
      ],
      ['three parts', '*/*/*'],
      ['one part', keyHash],
    ])('rejects %s', (_name, text) => {
      expect(readPattern(text)).toBeUndefined()
    })
  })
})
