import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

export type { CostModels, Fraction, VectorParameters } from './ledger-parameters.js'
export {
  type LedgerEvent,
  type LedgerRun,
  type LedgerTransaction,
  ledgerRuns,
  slotsOfRuns,
} from './ledger-runs.js'
export { type MidgardChain, midgardChain, midgardChains, midgardGenesis } from './midgard.js'
export { cborSamples, framedTransaction, type Sample, transactionsOfBlock } from './samples.js'
export { type EraHistory, ledgerScenarios, type Scenario } from './scenarios.js'

const repository = resolve(import.meta.dirname, '../../..')

/** All collections; they need not be there. */
export const vectors = resolve(repository, process.env.RATATOSK_VECTORS ?? '../shared/vectors')

/**
 * The folder of a collection of test data, as an absolute path; undefined if it is absent, which is an error
 * under CI.
 */
export function vectorsFolder(collection: string): string | undefined {
  const folder = resolve(vectors, collection)
  if (existsSync(folder)) return folder
  if (process.env.CI) throw new Error(`The test data is missing: ${folder} (set RATATOSK_VECTORS)`)
  return undefined
}
