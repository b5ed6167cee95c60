import { fromHex, toHex } from '@ratatosk/cbor'
import { blake2b224 } from '@ratatosk/ledger'
import { bech32 } from 'bech32'
import { describe, expect, it } from 'vitest'
import { readPattern } from './pattern.js'

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
