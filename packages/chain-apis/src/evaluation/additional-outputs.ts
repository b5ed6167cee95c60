import { fromHex, isDecodeError } from '@ratatosk/cbor'
import { type OutputDatum, splitUnit, type TransactionOutput } from '@ratatosk/ledger'
import { decodeAnyData, isPlutusDataError } from '@ratatosk/ledger/plutus-data'
import {
  InvalidInputError,
  isObject,
  type JsonObject,
  quoted,
  readAddress,
  readFields,
  readHex,
  readInteger,
  readList,
  readQuantity,
} from '../input.js'
import { type AdditionalValue, type AssetEntry, writeAdditionalOutput } from './additional-output.js'
import { type OutputDialect, readScript } from './script-json.js'

const maxAdditionalOutputs = 300
/** The largest index of an output. */
const maxOutputIndex = 65_535n

export interface OutputsReading {
  readonly dialect: OutputDialect
  /** The most bytes of the assets of an output. */
  readonly maxValueSize: number
}

/**
 * Parses the outputs that a client adds to those of the chain for an evaluation.
 *
 * @param json an array
 * @param name the field that has it
 * @returns them by output reference
 * @throws {InvalidInputError}
 */
export function readAdditionalOutputs(
  json: unknown,
  name: string,
  reading: OutputsReading,
): Map<string, TransactionOutput> {
  const outputs = new Map<string, TransactionOutput>()
  for (const [position, entry] of readList(json, name, maxAdditionalOutputs).entries()) {
    const what = `${name}[${position}]`
    const [key, output] = readEntry(entry, what, reading)
    const known = outputs.get(key)
    if (known !== undefined && Buffer.compare(known.bytes, output.bytes) !== 0) {
      throw new InvalidInputError(`${what} contradicts an entry before it: both are the output ${key}.`)
    }
    outputs.set(key, output)
  }
  return outputs
}

/** An object as in Ogmios 6, or a pair of an output reference and an output as in Ogmios 5. */
function readEntry(entry: unknown, what: string, reading: OutputsReading): [string, TransactionOutput] {
  const names = ['address', 'value', 'datum', 'datumHash', 'script']
  if (reading.dialect === 'blockfrost' && Array.isArray(entry)) {
    if (entry.length !== 2) throw new InvalidInputError(`${what} must be a pair of an input and an output.`)
    const [reference, output] = entry
    const { txId, index } = readFields(reference, `${what}[0]`, ['txId', 'index'])
    const fields = readFields(output, `${what}[1]`, [...names, 'datum_hash'])
    return [referenceKey(txId, index, `${what}[0]`), readOutput(given(fields), `${what}[1]`, reading)]
  }
  const fields = readFields(entry, what, ['transaction', 'index', ...names])
  const { id } = readFields(fields.transaction, `${what}.transaction`, ['id'])
  return [referenceKey(id, fields.index, what), readOutput(given(fields), what, reading)]
}

/** Clients write null for a datum or script that an output does not have. */
function given(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== null))
}

/** @throws {InvalidInputError} */
export function referenceKey(id: unknown, index: unknown, what: string): string {
  const transaction = readHex(id, `the transaction id of ${what}`, 32)
  return `${transaction}#${readInteger(index, `${what}.index`, maxOutputIndex)}`
}

function readOutput(fields: JsonObject, what: string, { dialect, maxValueSize }: OutputsReading) {
  const datum = readDatum(fields, what, dialect)
  const output = {
    ...readValue(fields.value, `${what}.value`, dialect),
    address: readAddress(fields.address, `${what}.address`),
    datum,
    script: fields.script === undefined ? undefined : readScript(fields.script, `${what}.script`, dialect),
  }
  try {
    return writeAdditionalOutput(output, maxValueSize)
  } catch (error) {
    if (isDecodeError(error) || error instanceof RangeError) {
      throw new InvalidInputError(`${what} is not a valid output: ${error.message}`)
    }
    throw error
  }
}

/** Ogmios 5 reads 64 digits that are not Plutus data as the hash of a datum. */
function readDatum(
  { datum, datumHash, datum_hash: alias = datumHash }: JsonObject,
  what: string,
  dialect: OutputDialect,
): OutputDatum {
  const content = datum === undefined ? undefined : readHex(datum, `${what}.datum`)
  const hash = alias === undefined ? undefined : readHex(alias, `the datum hash of ${what}`, 32)
  if (datumHash !== undefined && readHex(datumHash, `${what}.datumHash`, 32) !== hash) {
    throw new InvalidInputError(`${what} has two different hashes of a datum.`)
  }
  if (content === undefined)
    return hash === undefined ? { kind: 'none' } : { kind: 'hash', hash: fromHex(hash) }
  const isHash = dialect === 'blockfrost' && content.length === 64 && !isPlutusData(content)
  if (hash !== undefined && !(isHash && hash === content)) {
    throw new InvalidInputError(`${what} has both "datum" and "datumHash": send one of them.`)
  }
  return isHash ? { kind: 'hash', hash: fromHex(content) } : { kind: 'inline', data: fromHex(content) }
}

function isPlutusData(hex: string): boolean {
  try {
    decodeAnyData(fromHex(hex))
    return true
  } catch (error) {
    if (isPlutusDataError(error)) return false
    throw error
  }
}

/**
 * `{ ada: { lovelace }, <policy>: { <name>: n } }` as in Ogmios 6, `{ coins, assets: { <unit>: n } }` as in
 * Ogmios 5, or both mixed, as some clients write them for Blockfrost.
 */
function readValue(value: unknown, what: string, dialect: OutputDialect): AdditionalValue {
  if (!isObject(value)) throw new InvalidInputError(`${what} must be an object.`)
  const { ada, ...rest } = value
  if (dialect === 'ogmios' || ada !== undefined) {
    const { lovelace } = readFields(ada, `${what}.ada`, ['lovelace'])
    return { lovelace: readQuantity(lovelace, `${what}.ada.lovelace`), assets: readPolicies(rest, what) }
  }
  const { coins, assets, ...policies } = rest
  const lovelace = readQuantity(coins, `${what}.coins`)
  if (assets === undefined) return { lovelace, assets: readPolicies(policies, what) }
  if (Object.keys(policies).length > 0) {
    throw new InvalidInputError(`${what} has policies beside "assets": send one of them.`)
  }
  if (!isObject(assets)) throw new InvalidInputError(`${what}.assets must be an object.`)
  return { lovelace, assets: readUnits(assets, what) }
}

function* readPolicies(policies: JsonObject, what: string): Generator<AssetEntry> {
  for (const [policy, names] of Object.entries(policies)) {
    const id = readHex(policy, `a policy id in ${what}`, 28)
    if (!isObject(names)) throw new InvalidInputError(`${what}.${id} must be an object.`)
    for (const [name, quantity] of Object.entries(names)) yield readAsset(id, name, quantity, what)
  }
}

/** Units are a policy id and an asset name, with a dot between them or without. */
function* readUnits(units: JsonObject, what: string): Generator<AssetEntry> {
  for (const [unit, quantity] of Object.entries(units)) {
    const { policy, name } = splitUnit(unit[56] === '.' ? unit.replace('.', '') : unit)
    yield readAsset(readHex(policy, `a policy id in ${what}`, 28), name, quantity, what)
  }
}

function readAsset(policy: string, name: string, quantity: unknown, what: string): AssetEntry {
  const amount = readQuantity(quantity, `the quantity of ${quoted(policy + name)} in ${what}`)
  return [policy, readHex(name, `an asset name in ${what}`), amount]
}
