import { describe, expect, it } from 'vitest'
import { isRetriable } from './retry.js'
import type { PredicateFailure } from './verdict.js'

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

describe('a verdict can change with time', () => {
  it.each([
    ['an input is not known yet', [unknown], 5n],
    ['the interval is not open yet', [early], 5n],
    [
      'it is not open yet and has no end',
      [failure('OutsideValidityIntervalUTxO', { invalidBefore: '10' })],
      5n,
    ],
    ['both', [unknown, early], 5n],
    ['the time of the upper bound is not known yet', [failure('OutsideForecast')], 5n],
  ])('where %s', (_, verdict, slot) => {
    expect(isRetriable(verdict, slot)).toBe(true)
  })

  it.each([
    ['there is nothing to change', [], 5n],
    ['the interval has passed', [late], 20n],
    ['it has passed since', [early], 20n],
    ['it never opens', [never], 5n],
    ['another rule is broken', [failure('FeeTooSmallUTxO')], 5n],
    ['another rule is broken besides', [unknown, failure('InvalidWitnessesUTXOW')], 5n],
  ])('but not where %s', (_, verdict, slot) => {
    expect(isRetriable(verdict, slot)).toBe(false)
  })
})
