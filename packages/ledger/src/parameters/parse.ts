import { ProtocolParametersError } from '../errors.js'
import type { PlutusLanguage } from '../transaction/types.js'
import type { ProtocolParameters, Rational } from './types.js'

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
 * import { readFile } from 'node:fs/promises'
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

type ParameterJson = { readonly [key: string]: unknown }

function isObject(value: unknown): value is ParameterJson {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function objectAt(parent: ParameterJson, key: string, path = key): ParameterJson {
  const value = parent[key]
  if (!isObject(value)) throw new ProtocolParametersError(path, `expected an object, got ${shown(value)}`)
  return value
}

/** A non-negative integer, given as a JSON number or a decimal string. */
function naturalAt(parent: ParameterJson, key: string, path = key): bigint {
  const value = integer(parent[key], path)
  if (value < 0n) throw new ProtocolParametersError(path, `expected a natural number, got ${value}`)
  return value
}

/** A non-negative integer of at most 32 bits, for sizes and counts. */
function countAt(parent: ParameterJson, key: string, path = key): number {
  const value = naturalAt(parent, key, path)
  if (value > 0xffff_ffffn) throw new ProtocolParametersError(path, `${value} is out of range (32 bits)`)
  return Number(value)
}

/** An exact fraction: `"577/10000"`, `{ numerator, denominator }`, or a decimal (`0.0577`, `7.21e-5`). */
function rationalAt(parent: ParameterJson, key: string, path = key): Rational {
  const value = parent[key]
  if (isObject(value)) {
    const denominator = naturalAt(value, 'denominator', `${path}.denominator`)
    return fraction(naturalAt(value, 'numerator', `${path}.numerator`), denominator, path)
  }
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  const ratio = /^(\d+)\/(\d+)$/.exec(text)
  if (ratio) return fraction(BigInt(ratio[1] ?? ''), BigInt(ratio[2] ?? ''), path)
  const decimal = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/.exec(text)
  if (!decimal)
    throw new ProtocolParametersError(path, `expected a fraction or a decimal, got ${shown(value)}`)
  const digits = decimal[2] ?? ''
  const exponent = Number(decimal[3] ?? '0') - digits.length
  const mantissa = BigInt((decimal[1] ?? '') + digits)
  return exponent >= 0
    ? fraction(mantissa * 10n ** BigInt(exponent), 1n, path)
    : fraction(mantissa, 10n ** BigInt(-exponent), path)
}

function integersAt(parent: ParameterJson, key: string, path = key): readonly bigint[] {
  const value = parent[key]
  if (!Array.isArray(value)) {
    throw new ProtocolParametersError(path, `expected an array of integers, got ${shown(value)}`)
  }
  return value.map((entry, position) => integer(entry, `${path}[${position}]`))
}

function integer(value: unknown, path: string): bigint {
  if (typeof value === 'bigint') return value
  if (typeof value === 'string' && /^-?\d{1,80}$/.test(value)) return BigInt(value)
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    throw new ProtocolParametersError(path, `expected an integer, got ${shown(value)}`)
  }
  // JSON.parse has already rounded such a number, so the intended value is lost.
  if (!Number.isSafeInteger(value)) {
    throw new ProtocolParametersError(path, `${value} is beyond 2^53: write it as a string`)
  }
  return BigInt(value)
}

function fraction(numerator: bigint, denominator: bigint, path: string): Rational {
  if (denominator === 0n) throw new ProtocolParametersError(path, 'the denominator is zero')
  return { numerator, denominator }
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'bigint') return String(value)
  const text = JSON.stringify(value) ?? typeof value
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

/** The Plutus languages in the order of the ledger's language numbers. */
export const plutusLanguages: readonly PlutusLanguage[] = ['PlutusV1', 'PlutusV2', 'PlutusV3']

/**
 * The lengths of each language's cost model, with the ledger version that introduced the length (parameter
 * names of plutus-ledger-api). A network may have a longer model before it, or a shorter one after.
 */
const modelLengths: { readonly [language in PlutusLanguage]: readonly { length: number; since: number }[] } =
  {
    PlutusV1: [
      { length: 166, since: 5 },
      { length: 332, since: 11 },
    ],
    PlutusV2: [
      { length: 175, since: 7 },
      { length: 185, since: 10 },
      { length: 332, since: 11 },
    ],
    PlutusV3: [
      { length: 251, since: 9 },
      { length: 297, since: 10 },
      { length: 350, since: 11 },
    ],
  }

/** Exceeds every budget, but its product with the size of an argument does not overflow 64 bits. */
const unaffordable = 10_000_000_000_000n

/**
 * Checks the cost models of protocol parameters: each must have a length that some ledger version uses, and
 * costs that fit signed 64-bit integers. Evaluation with other models fails with `InvalidCostModel`.
 *
 * @returns a message that describes the problem; undefined if there is none
 */
export function costModelProblem({ costModels }: Pick<ProtocolParameters, 'costModels'>): string | undefined {
  for (const language of plutusLanguages) {
    const model = costModels[language]
    if (model === undefined) continue
    const lengths = modelLengths[language].map(({ length }) => length)
    if (!lengths.includes(model.length)) {
      return `The cost model of ${language} has ${model.length} costs instead of ${lengths.join(' or ')}`
    }
    const wrong = model.findIndex((cost) => BigInt.asIntN(64, cost) !== cost)
    if (wrong >= 0) return `Cost ${wrong} of ${language} does not fit into 64 bits`
  }
  return undefined
}

/** Checks and prepares cost models once for as long as callers pass the same parameters object. */
export function createCostModelReader(): (
  parameters: ProtocolParameters,
) => { readonly problem: string } | { readonly models: readonly BigInt64Array[] } {
  let last:
    | { of: ProtocolParameters; problem: string | undefined; models: readonly BigInt64Array[] }
    | undefined
  return (parameters) => {
    if (last?.of !== parameters) {
      const problem = costModelProblem(parameters)
      last = { of: parameters, problem, models: problem === undefined ? engineCostModels(parameters) : [] }
    }
    return last.problem === undefined ? { models: last.models } : { problem: last.problem }
  }
}

/** The models as engines expect them: of this ledger version's length, with unset costs unaffordable. */
export function engineCostModels({
  costModels,
  ledgerVersion,
}: ProtocolParameters): readonly BigInt64Array[] {
  return plutusLanguages.map((language) => {
    const model = costModels[language]
    if (model === undefined) return new BigInt64Array()
    const asked = modelLengths[language].filter(({ since }) => since <= ledgerVersion.major)
    const costs = new BigInt64Array(Math.max(model.length, asked.at(-1)?.length ?? 0)).fill(unaffordable)
    model.forEach((cost, i) => {
      costs[i] = cost > unaffordable ? unaffordable : cost
    })
    return costs
  })
}
