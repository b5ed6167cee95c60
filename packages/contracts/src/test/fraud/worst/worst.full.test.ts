import { expect, it } from 'vitest'
import { LedgerFraud, TransactionFraud, WitnessFraud } from '../../../layout.js'
import { parameters } from '../../evaluate.js'
import { worstCosts } from './measure.js'

const costs = worstCosts()

/** Frauds about entries of maps: their proofs read no transaction, and cost the same for all. */
const ofEntries = [
  'strayFromBefore',
  'spentBeforeMade',
  'wrongOutputsAfter',
  'referenceInputMissing',
  'gapInTransactions',
  'strangeEntry',
]
/** Frauds of lengths and chunks: they hash a part or a chunk, and have rows of their own for a full chunk. */
const ofChunks = ['wrongLength', 'tooLong', 'wrongChunk']

it('measures every fraud that reads a transaction', () => {
  const frauds = Object.keys({ ...LedgerFraud, ...TransactionFraud, ...WitnessFraud })
  const measured = frauds.filter((fraud) => costs.some(({ what }) => what.startsWith(`\`${fraud}\``)))
  expect(frauds.filter((fraud) => !measured.includes(fraud))).toEqual([...ofEntries, ...ofChunks])
})

it.each(costs.map((cost) => [cost.what, cost] as const))(
  'removes and slashes with a fifth of a transaction to spare: %s',
  (_what, { whole, bytes }) => {
    const { maxTransactionExecutionUnits: most, maxTransactionSize } = parameters
    expect(Number(whole.memory) / Number(most.memory)).toBeLessThanOrEqual(0.8)
    expect(Number(whole.steps) / Number(most.steps)).toBeLessThanOrEqual(0.8)
    expect(bytes / maxTransactionSize).toBeLessThanOrEqual(0.8)
  },
)

it.each(worstCosts('deep').map((cost) => [cost.what, cost] as const))(
  'removes and slashes in maps of the longest ways: %s',
  (_what, { whole, bytes }) => {
    const { maxTransactionExecutionUnits: most, maxTransactionSize } = parameters
    expect(whole.memory).toBeLessThanOrEqual(most.memory)
    expect(whole.steps).toBeLessThanOrEqual(most.steps)
    expect(bytes).toBeLessThanOrEqual(maxTransactionSize)
  },
)
