import {
  addressOf,
  type Draft,
  encodeDraft,
  encodeInput,
  encodeList,
  encodeOutput,
  encodeSet,
  encodeUint,
  keyOf,
} from '@ratatosk/fixtures'
import { describe, expect, it } from 'vitest'
import { decodeTransaction } from '../transaction/decode.js'
import { effects } from './effects.js'

const address = addressOf(keyOf('alice').hash)
const id = new Uint8Array(32).fill(1)
const draft: Draft = {
  body: new Map([
    [0, encodeSet([encodeInput(id, 0)])],
    [1, encodeList([encodeOutput({ address, lovelace: 5n }), encodeOutput({ address, lovelace: 6n })])],
    [2, encodeUint(0)],
    [13, encodeSet([encodeInput(id, 1)])],
    [16, encodeOutput({ address, lovelace: 7n })],
  ]),
  witnesses: new Map(),
  signers: [],
  isValid: true,
}

describe('including a transaction', () => {
  it('spends its inputs and produces its outputs', () => {
    const transaction = decodeTransaction(encodeDraft(draft))
    const { spent, produced } = effects(transaction)
    expect(spent).toEqual([{ transactionId: id, index: 0 }])
    expect(produced.map(({ reference, output }) => [reference, output.value.lovelace])).toEqual([
      [{ transactionId: transaction.id, index: 0 }, 5n],
      [{ transactionId: transaction.id, index: 1 }, 6n],
    ])
  })

  it('spends the collateral of an invalid one and produces its collateral return after the outputs', () => {
    const transaction = decodeTransaction(encodeDraft({ ...draft, isValid: false }))
    const { spent, produced } = effects(transaction)
    expect(spent).toEqual([{ transactionId: id, index: 1 }])
    expect(produced.map(({ reference, output }) => [reference, output.value.lovelace])).toEqual([
      [{ transactionId: transaction.id, index: 2 }, 7n],
    ])
  })
})
