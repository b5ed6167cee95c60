import { fromHex, toHex } from '@ratatosk/cbor'
import { decodeTransactionOutput, keyAddress } from '@ratatosk/ledger'
import { describe, expect, it } from 'vitest'
import { type Amount, decodeAmount, encodeAmount, encodeOutput, readLovelace } from './output.js'

const [policyA, policyB] = ['aa'.repeat(28), 'bb'.repeat(28)]
const address = keyAddress(new Uint8Array(28), 0).bytes
const amount: Amount = new Map([
  ['lovelace', 2_000_000n],
  [`${policyB}01`, 3n],
  [`${policyA}0102`, 2n],
  [`${policyA}ff`, 2n ** 63n],
  [policyA, 1n],
])

describe('values', () => {
  it('are written in canonical order and read back', () => {
    const assets = `a2581c${policyA}a3400141ff1b800000000000000042010202581c${policyB}a1410103`
    expect(toHex(encodeAmount(amount))).toBe(`821a001e8480${assets}`)
    expect(decodeAmount(encodeAmount(amount))).toEqual(amount)
    expect(toHex(encodeAmount(new Map()))).toBe('00')
  })

  it.each(['', 'ff', '8201', '20', '0000'])('refuses %j as an amount', (hex) => {
    expect(() => decodeAmount(fromHex(hex))).toThrow(expect.objectContaining({ name: 'APIError', code: -1 }))
  })

  it.each<[string | number | bigint, bigint]>([
    ['1a004c4b40', 5_000_000n],
    ['5000000', 5_000_000n],
    ['50000000', 50_000_000n],
    [3_000_000, 3_000_000n],
    [7n, 7n],
  ])('reads %s as lovelace', (given, lovelace) => {
    expect(readLovelace(given)).toBe(lovelace)
  })

  it.each([-1, 1.5, 'ada', '-5', null, {}])('refuses %s as lovelace', (given) => {
    expect(() => readLovelace(given)).toThrow(expect.objectContaining({ name: 'APIError', code: -1 }))
  })
})

describe('outputs', () => {
  it.each([
    [{ datumHash: null, inlineDatum: null }, { kind: 'none' }],
    [
      { datumHash: 'cd'.repeat(32), inlineDatum: null },
      { kind: 'hash', hash: fromHex('cd'.repeat(32)) },
    ],
    [
      { datumHash: 'cd'.repeat(32), inlineDatum: 'd87980' },
      { kind: 'inline', data: fromHex('d87980') },
    ],
  ])('with the datum %o are what the ledger reads', (datum, expected) => {
    const output = decodeTransactionOutput(encodeOutput({ address, amount, ...datum }))
    expect(output.address.bytes).toEqual(address)
    expect(output.value.lovelace).toBe(2_000_000n)
    expect(output.value.assets.get(policyA)?.get('0102')).toBe(2n)
    expect(output.datum).toMatchObject(expected)
  })
})
