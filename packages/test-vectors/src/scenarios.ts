import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromHex } from '@ratatosk/cbor'
import type { Fraction, VectorParameters } from './ledger-parameters.js'

/** One file of `ledger-scenarios/scenarios`. */
export interface Scenario {
  /** Of the file, without `.json`. */
  readonly name: string
  readonly network: string
  readonly eraHistory: EraHistory
  readonly parameters: VectorParameters & { readonly maxReferenceScriptsSize: number }
  /** The unspent outputs before the transaction: reference and output, both CBOR. */
  readonly unspent: readonly (readonly [reference: Uint8Array, output: Uint8Array])[]
  readonly treasury: bigint
  readonly slot: bigint
  /** CBOR, which need not decode. */
  readonly transaction: Uint8Array
  readonly expected:
    | 'Pass'
    | { readonly predicate: string; readonly description?: string }
    | { readonly decodingFailure: true }
}

export interface EraHistory {
  readonly stabilityWindow: number
  readonly eras: readonly {
    readonly start: { readonly time: number; readonly slot: number }
    readonly end: { readonly slot: number } | null
    readonly params: { readonly epochSizeSlots: number; readonly slotLengthMs: number }
  }[]
}

interface ScenarioJson extends Pick<Scenario, 'network' | 'expected'> {
  readonly eraHistory: EraHistory
  readonly protocolParameters: ParametersJson
  readonly initialState: {
    readonly utxo?: readonly { readonly input: string; readonly output: string }[]
    readonly pots?: { readonly treasury?: number }
  }
  readonly point: { readonly slot: number }
  readonly transaction: string
}

interface FractionJson {
  readonly numerator: number
  readonly denominator: number
}

interface UnitsJson {
  readonly memory: number
  readonly cpu: number
}

interface ParametersJson {
  readonly minFeeCoefficient: number
  readonly minFeeConstant: number
  readonly minFeeReferenceScripts: { readonly base: FractionJson }
  readonly minUtxoDepositCoefficient: number
  readonly maxTransactionSize: number
  readonly maxValueSize: number
  readonly maxReferenceScriptsSize: number
  readonly stakeCredentialDeposit: number
  readonly stakePoolDeposit: number
  readonly collateralPercentage: number
  readonly maxCollateralInputs: number
  readonly plutusCostModels: {
    readonly [language in 'plutusV1' | 'plutusV2' | 'plutusV3']?: readonly number[]
  }
  readonly scriptExecutionPrices: { readonly memory: FractionJson; readonly cpu: FractionJson }
  readonly maxExecutionUnitsPerTransaction: UnitsJson
  readonly maxExecutionUnitsPerBlock: UnitsJson
  readonly governanceActionDeposit: number
  readonly delegateRepresentativeDeposit: number
  readonly version: { readonly major: number; readonly minor: number }
}

/** The scenarios, by name. @param folder `ledger-scenarios` */
export function* ledgerScenarios(folder: string): Generator<Scenario, void> {
  for (const file of readdirSync(join(folder, 'scenarios')).sort()) {
    const scenario = readJson(join(folder, 'scenarios', file)) as ScenarioJson
    const { network, expected, initialState, point } = scenario
    yield {
      name: file.replace(/\.json$/, ''),
      network,
      expected,
      eraHistory: follow(folder, scenario.eraHistory) as EraHistory,
      parameters: parametersOf(follow(folder, scenario.protocolParameters) as ParametersJson),
      unspent: (initialState.utxo ?? []).map(({ input, output }) => [fromHex(input), fromHex(output)]),
      treasury: BigInt(initialState.pots?.treasury ?? 0),
      slot: BigInt(point.slot),
      transaction: fromHex(scenario.transaction),
    }
  }
}

/** `{ "$ref": file, "$override": fields }` stands for the file with those fields replaced. */
function follow(folder: string, value: object): object {
  if (!('$ref' in value) || typeof value.$ref !== 'string') return value
  const override = '$override' in value && typeof value.$override === 'object' ? value.$override : {}
  return { ...readJson(join(folder, value.$ref)), ...override }
}

const readJson = (path: string): object => JSON.parse(readFileSync(path, 'utf8')) as object

function parametersOf(json: ParametersJson): Scenario['parameters'] {
  const { plutusV1, plutusV2, plutusV3 } = json.plutusCostModels
  return {
    minFeeA: BigInt(json.minFeeCoefficient),
    minFeeB: BigInt(json.minFeeConstant),
    maxTransactionSize: json.maxTransactionSize,
    maxValueSize: json.maxValueSize,
    coinsPerUtxoByte: BigInt(json.minUtxoDepositCoefficient),
    collateralPercentage: BigInt(json.collateralPercentage),
    maxCollateralInputs: json.maxCollateralInputs,
    executionPrices: {
      memory: fraction(json.scriptExecutionPrices.memory),
      steps: fraction(json.scriptExecutionPrices.cpu),
    },
    maxTransactionExecutionUnits: units(json.maxExecutionUnitsPerTransaction),
    maxBlockExecutionUnits: units(json.maxExecutionUnitsPerBlock),
    referenceScriptCostPerByte: fraction(json.minFeeReferenceScripts.base),
    maxReferenceScriptsSize: json.maxReferenceScriptsSize,
    costModels: {
      ...(plutusV1 && { PlutusV1: plutusV1.map(BigInt) }),
      ...(plutusV2 && { PlutusV2: plutusV2.map(BigInt) }),
      ...(plutusV3 && { PlutusV3: plutusV3.map(BigInt) }),
    },
    ledgerVersion: json.version,
    keyDeposit: BigInt(json.stakeCredentialDeposit),
    poolDeposit: BigInt(json.stakePoolDeposit),
    drepDeposit: BigInt(json.delegateRepresentativeDeposit),
    governanceActionDeposit: BigInt(json.governanceActionDeposit),
  }
}

function fraction({ numerator, denominator }: FractionJson): Fraction {
  return { numerator: BigInt(numerator), denominator: BigInt(denominator) }
}

function units({ memory, cpu }: UnitsJson): { memory: bigint; steps: bigint } {
  return { memory: BigInt(memory), steps: BigInt(cpu) }
}
