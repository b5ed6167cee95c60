import { CborWriter, fromHex, isDecodeError } from '@ratatosk/cbor'
import {
  type Address,
  decodeTransactionOutput,
  type OutputDatum,
  splitUnit,
  type TransactionOutput,
} from '@ratatosk/ledger'
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
  readText,
} from '../input.js'
import { unwrapped } from '../transaction-bytes.js'

/** How outputs are written: as in Ogmios 6 and 7, or as Blockfrost accepts them, also in pairs. */
type OutputDialect = 'ogmios' | 'blockfrost'

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

/** An asset and how much of it there is; policy id and name in hex, lower case. */
type AssetEntry = readonly [policy: string, name: string, quantity: bigint]

interface AdditionalValue {
  readonly lovelace: bigint
  /** Read once, and no further than the first entry that is refused. */
  readonly assets: Iterable<AssetEntry>
}

/** The numbers of the languages in references to scripts (Conway CDDL). */
const languages: Readonly<Record<string, number>> = {
  native: 0,
  'plutus:v1': 1,
  'plutus:v2': 2,
  'plutus:v3': 3,
}

/**
 * Parses the script of an output: hex of `[language, script]`, `{ language, cbor }`, or
 * `{ language: "native", json }`; by Blockfrost also `{ "<language>": … }`.
 *
 * @returns CBOR of `[language, script]`
 * @throws {InvalidInputError}
 */
function readScript(script: unknown, what: string, dialect: OutputDialect): Uint8Array {
  // Some clients send it as it is in an output: as bytes under the tag 24.
  if (typeof script === 'string') return unwrapped(fromHex(readHex(script, what)))
  if (isObject(script) && script.language === undefined && dialect === 'blockfrost') {
    const fields = readFields(script, what, Object.keys(languages))
    const [entry, ...others] = Object.entries(fields)
    if (entry === undefined || others.length > 0) {
      throw new InvalidInputError(`${what} must be in one language.`)
    }
    const [language, content] = entry
    if (language !== 'native') return tagged(language, content, what)
    // The hash of a key, as Ogmios 5 writes the simplest script.
    const isCbor = typeof content === 'string' && content.length !== 56
    return isCbor ? tagged(language, content, what) : native(content, what)
  }
  const { language, cbor, json } = readFields(script, what, ['language', 'cbor', 'json'])
  if (language === 'native' && cbor === undefined) return native(json, what)
  if (language !== 'native' && json !== undefined) {
    throw new InvalidInputError(`${what} has "json", which only native scripts have.`)
  }
  return tagged(readText(language, `${what}.language`), cbor, what)
}

function tagged(language: string, cbor: unknown, what: string): Uint8Array {
  const tag = Object.hasOwn(languages, language) ? languages[language] : undefined
  if (tag === undefined) {
    const known = Object.keys(languages).join(', ')
    throw new InvalidInputError(`${what}.language must be one of ${known}, not ${quoted(language)}.`)
  }
  const bytes = fromHex(readHex(cbor, `the CBOR of ${what}`))
  const writer = new CborWriter().array(2).uint(tag)
  return (tag === 0 ? writer.raw(bytes) : writer.bytes(bytes)).toBytes()
}

function native(json: unknown, what: string): Uint8Array {
  const writer = new CborWriter().array(2).uint(0)
  writeNative(writer, json, what)
  return writer.toBytes()
}

function writeNative(writer: CborWriter, json: unknown, what: string): void {
  const { clause, from, atLeast, slot } = clauseOf(json, what)
  if (clause === 'signature') {
    writer
      .array(2)
      .uint(0)
      .bytes(fromHex(readHex(from, `a key hash of ${what}`, 28)))
  } else if (clause === 'after' || clause === 'before') {
    writer
      .array(2)
      .uint(clause === 'after' ? 4 : 5)
      .uint(readInteger(slot, `a slot of ${what}`))
  } else if (clause === 'some') {
    writer
      .array(3)
      .uint(3)
      .uint(readInteger(atLeast, `the least number of ${what}`, maxUint32))
    writeParts(writer, from, what)
  } else if (clause === 'all' || clause === 'any') {
    writer.array(2).uint(clause === 'all' ? 1 : 2)
    writeParts(writer, from, what)
  } else {
    const name = quoted(String(clause))
    throw new InvalidInputError(`${what} has an unknown clause of native scripts: ${name}.`)
  }
}

const maxUint32 = 2n ** 32n - 1n

function writeParts(writer: CborWriter, parts: unknown, what: string): void {
  if (!Array.isArray(parts)) throw new InvalidInputError(`the parts of ${what} must be an array.`)
  writer.array(parts.length)
  for (const part of parts) writeNative(writer, part, what)
}

/** A native script of Ogmios 6 (`clause`), of cardano-cli (`type`) or of Ogmios 5, as one of Ogmios 6. */
function clauseOf(json: unknown, what: string): JsonObject {
  if (typeof json === 'string') return { clause: 'signature', from: json }
  if (!isObject(json)) throw new InvalidInputError(`${what} must be a native script.`)
  if (json.clause !== undefined) return readFields(json, what, ['clause', 'from', 'atLeast', 'slot'])
  if (json.type !== undefined) {
    const fields = readFields(json, what, ['type', 'keyHash', 'scripts', 'required', 'slot'])
    const { type, keyHash, scripts, required, slot } = fields
    if (type === 'sig') return { clause: 'signature', from: keyHash }
    return { clause: type === 'atLeast' ? 'some' : type, from: scripts, atLeast: required, slot }
  }
  const [entry, ...others] = Object.entries(json)
  if (entry === undefined || others.length > 0) {
    throw new InvalidInputError(`${what} must be a native script with one clause.`)
  }
  const [name, content] = entry
  if (name === 'startsAt') return { clause: 'after', slot: content }
  if (name === 'expiresAt') return { clause: 'before', slot: content }
  if (/^\d{1,9}$/.test(name)) return { clause: 'some', atLeast: Number(name), from: content }
  return { clause: name, from: content }
}

/** An output that a client adds to those of the chain for an evaluation. */
export interface AdditionalOutput extends AdditionalValue {
  readonly address: Address
  readonly datum: OutputDatum
  /** CBOR of `[language, script]`. */
  readonly script?: Uint8Array | undefined
}

/**
 * Encodes the output as in a transaction and decodes it. `maxValueSize` limits the bytes of its assets.
 *
 * @throws {DecodeError} the datum or script is not valid
 * @throws {RangeError} there are too many assets, or one is repeated
 */
export function writeAdditionalOutput(output: AdditionalOutput, maxValueSize: number): TransactionOutput {
  const { address, lovelace, assets, datum, script } = output
  const writer = new CborWriter().map(2 + (datum.kind === 'none' ? 0 : 1) + (script ? 1 : 0))
  writer.uint(0).bytes(address.bytes).uint(1)
  const policies = byPolicy(assets, maxValueSize)
  if (policies.size === 0) writer.uint(lovelace)
  else writeAssets(writer.array(2).uint(lovelace), policies)
  if (datum.kind === 'inline') writer.uint(2).array(2).uint(1).tag(24).bytes(datum.data)
  if (datum.kind === 'hash') writer.uint(2).array(2).uint(0).bytes(datum.hash)
  if (script) writer.uint(3).tag(24).bytes(script)
  return decodeTransactionOutput(writer.toBytes())
}

type Assets = ReadonlyMap<string, ReadonlyMap<string, bigint>>

function byPolicy(assets: Iterable<AssetEntry>, maxValueSize: number): Assets {
  const policies = new Map<string, Map<string, bigint>>()
  // At least this many bytes in CBOR: heads, policy ids, names.
  let size = 0
  for (const [policy, name, quantity] of assets) {
    const names = policies.get(policy) ?? new Map<string, bigint>()
    size += 2 + name.length / 2 + (names.size === 0 ? 31 : 0)
    if (size > maxValueSize) throw new RangeError(`the assets take more than ${maxValueSize} bytes`)
    if (names.has(name)) throw new RangeError(`the asset ${policy}${name} is repeated`)
    policies.set(policy, names.set(name, quantity))
  }
  return policies
}

function writeAssets(writer: CborWriter, policies: Assets): void {
  writer.map(policies.size)
  for (const [policy, names] of policies) {
    writer.bytes(fromHex(policy)).map(names.size)
    for (const [name, quantity] of names) writer.bytes(fromHex(name)).uint(quantity)
  }
}
