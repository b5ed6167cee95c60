import { vectorsFolder } from '@ratatosk/fixtures/vectors'
import { afterAll, describe, expect, it } from 'vitest'
import { createEvaluator } from '../../plutus/evaluator.js'
import { threadProgram } from '../../plutus/test/setup.js'
import { knownDeviations, type Outcome, table, unexplained } from './outcome.js'
import { runLedgerEvents, runScenarios } from './scenarios.js'

const scenarios = vectorsFolder('ledger-scenarios')
const runs = vectorsFolder('ledger-rules')
const evaluator = createEvaluator({ threads: 1, threadProgram })
afterAll(() => evaluator.close())

/** Every case is counted once; a deviation without a reason is reported with the whole table. */
function assess(name: string, outcomes: readonly Outcome[]): readonly Outcome[] {
  expect(unexplained(outcomes), table(name, outcomes)).toEqual([])
  const plain = outcomes.filter(({ kind }) => kind === 'plain')
  expect(plain.length).toBeGreaterThan(0)
  expect(plain.filter(({ result }) => result !== 'agreed')).toEqual([])
  return outcomes
}

describe('the rules agree with the Haskell ledger', () => {
  it.skipIf(scenarios === undefined)('on every scenario (needs ledger-scenarios)', async () => {
    const outcomes = assess('ledger-scenarios', await runScenarios(scenarios ?? '', evaluator))
    const refused = outcomes.filter(({ rules, kind }) => rules === 'layer 2' && kind !== 'plain')
    expect(refused.filter(({ found }) => found === 'Pass')).toEqual([])
  })

  it.skipIf(runs === undefined)(
    'on every transaction of its recorded runs (needs ledger-rules)',
    async () => {
      const outcomes = assess('ledger-rules', await runLedgerEvents(runs ?? '', evaluator))
      // Transactions that the ledger accepted keep these rules too, even with certificates, votes or
      // proposals.
      const accepted = outcomes.filter(
        ({ name, expected }) => expected === 'Pass' && !knownDeviations.has(name),
      )
      expect(accepted.filter(({ found }) => found !== 'Pass')).toEqual([])
    },
  )
})
