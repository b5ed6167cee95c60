import { toHex } from '@ratatosk/cbor'
import {
  decodeTransactionOutput,
  outputReferenceKey,
  type Transaction,
  type TransactionOutput,
} from '@ratatosk/ledger'
import type { RedeemerReport, Units } from '@ratatosk/ports'
import { LRUCache } from 'lru-cache'
import type { ExplorerOptions, ExplorerOutput } from './options.js'
import { unlessItFails } from './unless-it-fails.js'

/** Transactions whose units are kept: they never change. */
const maxKept = 1_000
/** How long an answer waits for scripts, in milliseconds; it is then without their units. */
const timeoutMs = 2_000

interface Spending {
  readonly transaction: Transaction
  readonly outputs: ReadonlyMap<string, TransactionOutput>
}

type UnitsOf = (redeemer: Pick<RedeemerReport, 'purpose' | 'index'>) => Units | undefined

/** Measures the units that scripts of accepted transactions use: of each once, also for readers at once. */
export function createUsedUnits(runScripts: NonNullable<ExplorerOptions['runScripts']>) {
  const reports = new LRUCache<string, readonly RedeemerReport[], Spending>({
    max: maxKept,
    ignoreFetchAbort: true,
    fetchMethod: async (_key, _stale, { context: { transaction, outputs } }) =>
      (await runScripts(transaction, outputs)).redeemers,
  })

  /** @param found what the index has of the outputs that it names */
  return async (transaction: Transaction, found: readonly ExplorerOutput[]): Promise<UnitsOf> => {
    const { id, body, witnesses } = transaction
    if (witnesses.redeemers.length === 0) return () => undefined
    const outputs = new Map(
      found.map((each) => [outputReferenceKey(each), decodeTransactionOutput(each.output)]),
    )
    const isComplete = [...body.inputs, ...body.referenceInputs].every((reference) =>
      outputs.has(outputReferenceKey(reference)),
    )
    if (!isComplete) return () => undefined
    const measured = reports.fetch(toHex(id), { context: { transaction, outputs } })
    const known = await unlessItFails(measured, timeoutMs)
    return ({ purpose, index }) => {
      const report = known?.find((each) => each.purpose === purpose && each.index === index)
      return report?.outcome.kind === 'Succeeded' ? report.outcome.used : undefined
    }
  }
}
