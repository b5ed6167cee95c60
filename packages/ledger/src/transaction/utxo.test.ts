import { fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import { expect, test } from 'vitest'
import { decodeUtxo, encodeUtxo } from './utxo.js'

const output = `a200581d60${'ab'.repeat(28)}011a000f4240`
const reference = `825820${'cd'.repeat(32)}07`

test('an output with its reference is read and written as CIP-30 has it', () => {
  const utxo = decodeUtxo(fromHex(`82${reference}${output}`))
  expect(utxo.reference).toEqual({ transactionId: fromHex('cd'.repeat(32)), index: 7 })
  expect(utxo.output.value.lovelace).toBe(1_000_000n)
  expect(toHex(encodeUtxo(utxo))).toBe(`82${reference}${output}`)
  // Of indefinite length.
  expect(decodeUtxo(fromHex(`9f${reference}${output}ff`))).toEqual(utxo)
})

test('what is no such pair is refused', () => {
  for (const hex of [
    '',
    '80',
    `81${reference}`,
    `83${reference}${output}00`,
    `82${reference}${output}00`,
    `82${output}${reference}`,
  ])
    expect(() => decodeUtxo(fromHex(hex))).toThrow(expect.toSatisfy(isDecodeError))
})
