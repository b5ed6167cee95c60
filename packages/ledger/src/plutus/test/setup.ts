import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { vectorsFolder } from '@ratatosk/fixtures/vectors'
import { describe, test } from 'vitest'
import type { ProtocolParameters } from '../../parameters/types.js'

interface ScenarioParameters {
  readonly plutusCostModels: {
    readonly [language in 'plutusV1' | 'plutusV2' | 'plutusV3']: readonly number[]
  }
  readonly maxExecutionUnitsPerTransaction: { readonly memory: number; readonly cpu: number }
}

const none = { numerator: 0n, denominator: 1n }

/**
 * The parameters of a network that evaluation reads, from the folder of the ledger scenarios; by name:
 * `preprod-conway-v10`, or `preprod-287` for cost models with ledger version 11's builtins.
 */
export function scenarioParameters(folder: string, name: string, protocolMajor: number): ProtocolParameters {
  const path = join(folder, 'common', 'protocolParameters', `${name}.json`)
  const { plutusCostModels, maxExecutionUnitsPerTransaction } = JSON.parse(
    readFileSync(path, 'utf8'),
  ) as ScenarioParameters
  const units = {
    memory: BigInt(maxExecutionUnitsPerTransaction.memory),
    steps: BigInt(maxExecutionUnitsPerTransaction.cpu),
  }
  return {
    minFeeA: 44n,
    minFeeB: 155_381n,
    maxTransactionSize: 16_384,
    maxValueSize: 5_000,
    coinsPerUtxoByte: 4_310n,
    collateralPercentage: 150n,
    maxCollateralInputs: 3,
    executionPrices: { memory: none, steps: none },
    maxTransactionExecutionUnits: units,
    maxBlockExecutionUnits: units,
    referenceScriptCostPerByte: none,
    costModels: {
      PlutusV1: plutusCostModels.plutusV1.map(BigInt),
      PlutusV2: plutusCostModels.plutusV2.map(BigInt),
      PlutusV3: plutusCostModels.plutusV3.map(BigInt),
    },
    ledgerVersion: { major: protocolMajor, minor: 0 },
    keyDeposit: 0n,
    poolDeposit: 0n,
    drepDeposit: 0n,
    governanceActionDeposit: 0n,
  }
}

/** The compiled program of the thread: tests run from source, but a thread of Node.js cannot. */
export const threadProgram = new URL('../../../dist/plutus/engine-thread.js', import.meta.url)

/** The compiled program of a thread with a third-party engine. */
export const secondOpinionProgram = new URL(
  '../../../dist/plutus/test/second-opinion-thread.js',
  import.meta.url,
)

/** Describes tests that read collections of test data. A skipped test stands for an absent one. */
export function describeVectors(
  names: readonly string[],
  title: string,
  body: (...folders: string[]) => void,
): void {
  const folders = names.map(vectorsFolder).filter((folder) => folder !== undefined)
  if (folders.length === names.length) describe(title, () => body(...folders))
  else test.skip(title, () => {})
}
