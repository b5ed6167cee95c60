import { describe, expect, it } from 'vitest'
import type { PredicateFailure } from './failures.js'
import { isRetriable } from './retry.js'

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
    ['the time of its end is not known yet', [failure('OutsideForecast')], 5n],
  ])('is true if %s', (_, failures, slot) => {
    expect(isRetriable(failures, slot)).toBe(true)
  })

  it.each([
    ['no rule is broken', [], 5n],
    ['the validity interval has ended', [late], 20n],
    ['it has ended since', [early], 20n],
    ['it is empty', [never], 5n],
    ['another rule is broken', [failure('FeeTooSmallUTxO')], 5n],
    ['another rule is broken as well', [unknown, failure('InvalidWitnessesUTXOW')], 5n],
  ])('is false if %s', (_, failures, slot) => {
    expect(isRetriable(failures, slot)).toBe(false)
  })
})
