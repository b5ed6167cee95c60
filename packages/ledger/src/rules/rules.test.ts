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
import type { OutputReference } from '../transaction/types.js'
import { createNetEffects, effects } from './effects.js'
import type { PredicateFailure } from './predicates.js'
import { isRetriable } from './retry.js'

describe('effects', () => {
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
})

describe('net effects', () => {
  const reference = (id: number, index = 0): OutputReference => ({
    transactionId: new Uint8Array(32).fill(id),
    index,
  })
  const output = (id: number, index = 0) => ({ reference: reference(id, index) })

  describe('the net effects of several transactions', () => {
    it('names the spender of each output, and separates outputs that are produced and spent', () => {
      const net = createNetEffects<{ reference: OutputReference }>()
      net.add({ spent: [reference(1)], produced: [output(2, 0), output(2, 1)] })
      net.add({ spent: [reference(2, 1), reference(9)], produced: [output(3)] })
      expect([...net.spent.values()]).toEqual([
        { reference: reference(1), spentBy: 0 },
        { reference: reference(9), spentBy: 1 },
      ])
      expect([...net.produced.values()]).toEqual([
        { output: output(2, 0), producedBy: 0, spentBy: undefined },
        { output: output(2, 1), producedBy: 0, spentBy: 1 },
        { output: output(3), producedBy: 1, spentBy: undefined },
      ])
    })

    const sequences: [string, string, { spent?: number[]; produced?: number[] }[]][] = [
      ['an older output twice', 'EFFECTS_DOUBLE_SPEND', [{ spent: [1] }, { spent: [1] }]],
      ['its own output twice', 'EFFECTS_DOUBLE_SPEND', [{ produced: [2] }, { spent: [2] }, { spent: [2] }]],
      ['an output before it exists', 'EFFECTS_SPENT_BEFORE_PRODUCED', [{ spent: [2] }, { produced: [2] }]],
    ]

    it.each(sequences)('refuses a sequence that spends %s', (_what, code, transactions) => {
      const net = createNetEffects<{ reference: OutputReference }>()
      const add = () => {
        for (const { spent = [], produced = [] } of transactions)
          net.add({ spent: spent.map((id) => reference(id)), produced: produced.map((id) => output(id)) })
      }
      expect(add).toThrowError(expect.objectContaining({ code, position: transactions.length - 1 }))
    })

    it('refuses a sequence that produces an output twice', () => {
      const net = createNetEffects<{ reference: OutputReference }>()
      net.add({ spent: [], produced: [output(2)] })
      expect(() => net.add({ spent: [], produced: [output(2)] })).toThrowError(
        expect.objectContaining({ code: 'EFFECTS_OUTPUT_EXISTS', position: 1 }),
      )
    })
  })
})

describe('retry', () => {
  const failure = (predicate: string, details: PredicateFailure['details'] = {}): PredicateFailure => ({
    predicate,
    message: '',
    details,
  })
  const unknown = failure('BadInputsUTxO', { inputs: ['…#0'] })
  const early = failure('OutsideValidityIntervalUTxO', {
    slot: '5',
    invalidBefore: '10',
    invalidHereafter: '20',
  })
  const late = failure('OutsideValidityIntervalUTxO', { slot: '20', invalidHereafter: '20' })
  const never = failure('OutsideValidityIntervalUTxO', {
    slot: '5',
    invalidBefore: '10',
    invalidHereafter: '10',
  })

  describe('isRetriable', () => {
    it.each([
      ['an input is unknown', [unknown], 5n],
      ['the validity interval has not begun', [early], 5n],
      [
        'it has not begun and has no end',
        [failure('OutsideValidityIntervalUTxO', { invalidBefore: '10' })],
        5n,
      ],
      ['both', [unknown, early], 5n],
    ])('is true if %s', (_, failures, slot) => {
      expect(isRetriable(failures, slot)).toBe(true)
    })

    it.each([
      ['no rule is broken', [], 5n],
      ['the validity interval has ended', [late], 20n],
      ['it has ended since', [early], 20n],
      ['it is empty', [never], 5n],
      ['the time of its end is not known yet', [failure('OutsideForecast')], 5n],
      ['another rule is broken', [failure('FeeTooSmallUTxO')], 5n],
      ['another rule is broken as well', [unknown, failure('InvalidWitnessesUTXOW')], 5n],
    ])('is false if %s', (_, failures, slot) => {
      expect(isRetriable(failures, slot)).toBe(false)
    })

    it('is false if the validity interval begins after the last try', () => {
      expect(isRetriable([early], 5n, 10n)).toBe(true)
      expect(isRetriable([early], 5n, 9n)).toBe(false)
      expect(isRetriable([unknown, early], 5n, 9n)).toBe(false)
      expect(isRetriable([unknown], 5n, 5n)).toBe(true)
    })
  })
})
