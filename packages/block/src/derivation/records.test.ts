import { toHex } from '@ratatosk/cbor'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeOutputRecord,
  decodeTransactionRecord,
  encodeOutputRecord,
  encodeTransactionRecord,
  transactionKey,
} from './records.js'

describe('records', () => {
  it('decode to what was encoded', () => {
    const position = fc.option(fc.nat(2 ** 40), { nil: undefined })
    const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })
    fc.assert(
      fc.property(
        fc.record({
          createdBy: position,
          spentBy: fc.oneof(position, fc.constant('bridge' as const)),
          outputHash: hash,
        }),
        fc.record({
          kind: fc.constantFrom('deposit' as const, 'withdrawalOrder' as const, 'transaction' as const),
          id: hash,
          witnessSetHash: hash,
          resolved: hash,
          feesSoFar: fc.bigInt(0n, 2n ** 64n - 1n),
          bodyLength: fc.nat(2 ** 32 - 1),
          witnessSetLength: fc.nat(2 ** 32 - 1),
        }),
        (output, transaction) => {
          expect(decodeOutputRecord(encodeOutputRecord(output))).toEqual(output)
          expect(decodeTransactionRecord(encodeTransactionRecord(transaction))).toEqual(transaction)
        },
      ),
    )
    expect(toHex(transactionKey(2 ** 40 + 258))).toBe('0000010000000102')
  })

  it('of another length are refused', () => {
    expect(() => decodeOutputRecord(new Uint8Array(49))).toThrow(RangeError)
    expect(() => decodeTransactionRecord(new Uint8Array(105))).toThrow(RangeError)
    expect(() => decodeTransactionRecord(new Uint8Array(113).fill(9))).toThrow(RangeError)
  })
})
