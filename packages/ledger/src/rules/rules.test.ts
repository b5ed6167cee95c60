import { CborWriter } from '@ratatosk/cbor'
import {
  addressOf,
  type Draft,
  encodeAssets,
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
import { isRetriable, type PredicateFailure } from './predicates.js'
import { redeemerTargets } from './script-use.js'
import { referenceScriptsFee } from './utxo.js'

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

const fifteen = { numerator: 15n, denominator: 1n }

describe('the price of reference scripts', () => {
  it.each([
    [0, 0n],
    [1, 15n],
    [25_599, 383_985n],
    [25_600, 384_000n],
    // The first byte of the second tier costs 18.
    [25_601, 384_018n],
    [51_200, 844_800n],
    // 21.6 lovelace, rounded down once, at the end.
    [51_201, 844_821n],
    [51_202, 844_843n],
    [76_800, 1_397_760n],
    [204_800, 6_335_648n],
  ])('is tiered: %i bytes', (size, fee) => {
    expect(referenceScriptsFee(size, fifteen)).toBe(fee)
  })

  it('calculates with exact fractions of lovelace', () => {
    expect(referenceScriptsFee(3, { numerator: 1n, denominator: 3n })).toBe(1n)
    expect(referenceScriptsFee(2, { numerator: 1n, denominator: 3n })).toBe(0n)
  })
})

const hash = (byte: number) => new Uint8Array(28).fill(byte)
const hex = (byte: number) => Buffer.from(hash(byte)).toString('hex')

it('finds what redeemers are for in the order of the ledger', () => {
  const accounts = new CborWriter().map(2)
  for (const [header, byte] of [
    [0xe0, 1],
    [0xf0, 2],
  ] as const)
    accounts.bytes(Uint8Array.of(header, ...hash(byte))).uint(0)
  const certificates = new CborWriter().array(1).array(3).uint(8).array(2).uint(1).bytes(hash(5)).uint(2)
  const body = new Map([
    [0, encodeSet([3, 0].map((index) => encodeInput(new Uint8Array(32), index)))],
    [1, encodeList([])],
    [2, encodeUint(0)],
    [4, certificates.toBytes()],
    [5, accounts.toBytes()],
    [9, encodeAssets([4, 3].map((byte) => [hash(byte), 'aa', 1n] as const))],
  ])
  const draft = { body, witnesses: new Map<number, Uint8Array>(), signers: [], isValid: true }
  const targetOf = redeemerTargets(decodeTransaction(encodeDraft(draft)))
  const output = (index: number) => ({ output: { transactionId: new Uint8Array(32), index } })
  expect([0, 1, 2].map((index) => targetOf({ purpose: 'spend', index }))).toEqual([
    output(0),
    output(3),
    undefined,
  ])
  expect([0, 1, 2].map((index) => targetOf({ purpose: 'mint', index }))).toEqual([
    { script: hex(3) },
    { script: hex(4) },
    undefined,
  ])
  // Scripts are before keys.
  expect([0, 1].map((index) => targetOf({ purpose: 'reward', index }))).toEqual([
    { script: hex(2) },
    undefined,
  ])
  expect(targetOf({ purpose: 'cert', index: 0 })).toEqual({ script: hex(5) })
})
