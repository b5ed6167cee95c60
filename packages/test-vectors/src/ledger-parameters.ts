import { CborReader } from '@ratatosk/cbor'

const LANGUAGES = ['PlutusV1', 'PlutusV2', 'PlutusV3'] as const

/** An exact fraction. */
export interface Fraction {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** Entries by language. */
export type CostModels = { readonly [Language in (typeof LANGUAGES)[number]]?: readonly bigint[] }

/** Protocol parameters of Conway, as the rules of `@ratatosk/ledger` take them. */
export type VectorParameters = ReturnType<typeof readLedgerParameters>

/**
 * Conway's protocol parameters as in the state of cardano-ledger: an array of 31 fields in a fixed order.
 */
export function readLedgerParameters(bytes: Uint8Array) {
  const reader = new CborReader(bytes)
  reader.readArray()
  const minFeeA = reader.readUint64()
  const minFeeB = reader.readUint64()
  skip(reader, 1)
  const maxTransactionSize = reader.readUint()
  skip(reader, 1)
  const keyDeposit = reader.readUint64()
  const poolDeposit = reader.readUint64()
  skip(reader, 5)
  reader.readArray()
  const ledgerVersion = { major: reader.readUint(), minor: reader.readUint() }
  skip(reader, 1)
  const coinsPerUtxoByte = reader.readUint64()
  const costModels = readCostModels(reader)
  reader.readArray()
  const executionPrices = { memory: readRational(reader), steps: readRational(reader) }
  const maxTransactionExecutionUnits = readUnits(reader)
  const maxBlockExecutionUnits = readUnits(reader)
  const maxValueSize = reader.readUint()
  const collateralPercentage = reader.readUint64()
  const maxCollateralInputs = reader.readUint()
  skip(reader, 5)
  const governanceActionDeposit = reader.readUint64()
  const drepDeposit = reader.readUint64()
  skip(reader, 1)
  const referenceScriptCostPerByte = readRational(reader)
  return {
    minFeeA,
    minFeeB,
    maxTransactionSize,
    maxValueSize,
    coinsPerUtxoByte,
    collateralPercentage,
    maxCollateralInputs,
    executionPrices,
    maxTransactionExecutionUnits,
    maxBlockExecutionUnits,
    referenceScriptCostPerByte,
    costModels,
    ledgerVersion,
    keyDeposit,
    poolDeposit,
    drepDeposit,
    governanceActionDeposit,
  }
}

function skip(reader: CborReader, count: number): void {
  for (let i = 0; i < count; i += 1) reader.skip()
}

function readCostModels(reader: CborReader): CostModels {
  const models: { [language in (typeof LANGUAGES)[number]]?: readonly bigint[] } = {}
  const count = reader.readMap()
  for (let i = 0; reader.hasNext(count, i); i += 1) {
    const language = LANGUAGES[reader.readUint()]
    const model: bigint[] = []
    const length = reader.readArray()
    for (let j = 0; reader.hasNext(length, j); j += 1) model.push(reader.readInt64())
    if (language) models[language] = model
  }
  return models
}

/** Tag 30 over `[numerator, denominator]`. */
function readRational(reader: CborReader): Fraction {
  reader.readTag()
  reader.readArray()
  return { numerator: reader.readUint64(), denominator: reader.readUint64() }
}

function readUnits(reader: CborReader): { memory: bigint; steps: bigint } {
  reader.readArray()
  return { memory: reader.readUint64(), steps: reader.readUint64() }
}
