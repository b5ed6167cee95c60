import { ProtocolParametersError } from '../errors.js'
import { costModelProblem } from '../plutus/cost-models.js'
import type { PlutusLanguage } from '../transaction/types.js'
import {
  countAt,
  integersAt,
  isObject,
  naturalAt,
  objectAt,
  type ParameterJson,
  rationalAt,
} from './json-fields.js'
import type { ProtocolParameters } from './types.js'

/**
 * Parses protocol parameters from JSON in the format of Blockfrost's `/epochs/latest/parameters`
 * (`min_fee_a`, …, `cost_models_raw`) or of Ogmios's `queryLedgerState/protocolParameters`
 * (`minFeeCoefficient`, …, `plutusCostModels`; with or without its JSON-RPC envelope). The keys determine the
 * format; unknown fields are ignored. Amounts may be numbers or decimal strings. Prices are parsed exactly,
 * without floating-point arithmetic.
 *
 * @param json the parsed JSON document
 * @throws ProtocolParametersError with the `field` that is missing or invalid
 * @example
 * const parameters = parseProtocolParameters(JSON.parse(await readFile('preprod.json', 'utf8')))
 * parameters.minFeeA // 44n
 */
export function parseProtocolParameters(json: unknown): ProtocolParameters {
  if (!isObject(json)) throw new ProtocolParametersError('', 'expected a JSON object')
  if ('min_fee_a' in json) return fromBlockfrost(json)
  if ('minFeeCoefficient' in json) return fromOgmios(json)
  if ('result' in json) return parseProtocolParameters(json.result)
  throw new ProtocolParametersError(
    '',
    'neither min_fee_a (Blockfrost) nor minFeeCoefficient (Ogmios) is there',
  )
}

function fromBlockfrost(json: ParameterJson): ProtocolParameters {
  return {
    minFeeA: naturalAt(json, 'min_fee_a'),
    minFeeB: naturalAt(json, 'min_fee_b'),
    maxTransactionSize: countAt(json, 'max_tx_size'),
    maxValueSize: countAt(json, 'max_val_size'),
    coinsPerUtxoByte: naturalAt(json, 'coins_per_utxo_size'),
    collateralPercentage: naturalAt(json, 'collateral_percent'),
    maxCollateralInputs: countAt(json, 'max_collateral_inputs'),
    executionPrices: { memory: rationalAt(json, 'price_mem'), steps: rationalAt(json, 'price_step') },
    maxTransactionExecutionUnits: {
      memory: naturalAt(json, 'max_tx_ex_mem'),
      steps: naturalAt(json, 'max_tx_ex_steps'),
    },
    maxBlockExecutionUnits: {
      memory: naturalAt(json, 'max_block_ex_mem'),
      steps: naturalAt(json, 'max_block_ex_steps'),
    },
    referenceScriptCostPerByte: rationalAt(json, 'min_fee_ref_script_cost_per_byte'),
    costModels: costModelsAt(json, 'cost_models_raw', {
      PlutusV1: 'PlutusV1',
      PlutusV2: 'PlutusV2',
      PlutusV3: 'PlutusV3',
    }),
    ledgerVersion: {
      major: countAt(json, 'protocol_major_ver'),
      minor: countAt(json, 'protocol_minor_ver'),
    },
    keyDeposit: naturalAt(json, 'key_deposit'),
    poolDeposit: naturalAt(json, 'pool_deposit'),
    drepDeposit: naturalAt(json, 'drep_deposit'),
    governanceActionDeposit: naturalAt(json, 'gov_action_deposit'),
  }
}

function fromOgmios(json: ParameterJson): ProtocolParameters {
  const version = objectAt(json, 'version')
  const prices = objectAt(json, 'scriptExecutionPrices')
  const perReferenceScript = objectAt(json, 'minFeeReferenceScripts')
  return {
    minFeeA: naturalAt(json, 'minFeeCoefficient'),
    minFeeB: lovelaceAt(json, 'minFeeConstant'),
    maxTransactionSize: bytesAt(json, 'maxTransactionSize'),
    maxValueSize: bytesAt(json, 'maxValueSize'),
    coinsPerUtxoByte: naturalAt(json, 'minUtxoDepositCoefficient'),
    collateralPercentage: naturalAt(json, 'collateralPercentage'),
    maxCollateralInputs: countAt(json, 'maxCollateralInputs'),
    executionPrices: {
      memory: rationalAt(prices, 'memory', 'scriptExecutionPrices.memory'),
      steps: rationalAt(prices, 'cpu', 'scriptExecutionPrices.cpu'),
    },
    maxTransactionExecutionUnits: executionUnitsAt(json, 'maxExecutionUnitsPerTransaction'),
    maxBlockExecutionUnits: executionUnitsAt(json, 'maxExecutionUnitsPerBlock'),
    referenceScriptCostPerByte: rationalAt(perReferenceScript, 'base', 'minFeeReferenceScripts.base'),
    ...referenceScriptsLimit(json),
    costModels: costModelsAt(json, 'plutusCostModels', {
      PlutusV1: 'plutus:v1',
      PlutusV2: 'plutus:v2',
      PlutusV3: 'plutus:v3',
    }),
    ledgerVersion: {
      major: countAt(version, 'major', 'version.major'),
      minor: countAt(version, 'minor', 'version.minor'),
    },
    keyDeposit: lovelaceAt(json, 'stakeCredentialDeposit'),
    poolDeposit: lovelaceAt(json, 'stakePoolDeposit'),
    drepDeposit: lovelaceAt(json, 'delegateRepresentativeDeposit'),
    governanceActionDeposit: lovelaceAt(json, 'governanceActionDeposit'),
  }
}

/** The cost models that are present. Each must have a length that some ledger version uses. */
function costModelsAt(
  json: ParameterJson,
  key: string,
  names: { readonly [language in PlutusLanguage]: string },
): ProtocolParameters['costModels'] {
  const models = objectAt(json, key)
  const costModels: { [language in PlutusLanguage]?: readonly bigint[] } = {}
  for (const language of ['PlutusV1', 'PlutusV2', 'PlutusV3'] as const) {
    const name = names[language]
    if (models[name] !== undefined && models[name] !== null) {
      costModels[language] = integersAt(models, name, `${key}.${name}`)
    }
  }
  const problem = costModelProblem({ costModels })
  if (problem !== undefined) throw new ProtocolParametersError(key, problem)
  return costModels
}

/** Ogmios writes `{ "ada": { "lovelace": n } }`. */
function lovelaceAt(json: ParameterJson, key: string): bigint {
  return naturalAt(objectAt(objectAt(json, key), 'ada', `${key}.ada`), 'lovelace', `${key}.ada.lovelace`)
}

/** Under its name of Ogmios 7 or of Ogmios 6. */
function referenceScriptsLimit(json: ParameterJson): Pick<ProtocolParameters, 'maxReferenceScriptsSize'> {
  const key = ['maxReferenceScriptsSizePerTransaction', 'maxReferenceScriptsSize'].find(
    (each) => each in json,
  )
  return key === undefined ? {} : { maxReferenceScriptsSize: bytesAt(json, key) }
}

/** Ogmios writes `{ "bytes": n }`. */
function bytesAt(json: ParameterJson, key: string): number {
  return countAt(objectAt(json, key), 'bytes', `${key}.bytes`)
}

function executionUnitsAt(json: ParameterJson, key: string): { memory: bigint; steps: bigint } {
  const units = objectAt(json, key)
  return { memory: naturalAt(units, 'memory', `${key}.memory`), steps: naturalAt(units, 'cpu', `${key}.cpu`) }
}
