import {
  type CborReader,
  equalBytes,
  isShortMap,
  readEncoded,
  readMapOf,
  readRecord,
  toHex,
} from '@ratatosk/cbor'
import { fieldsOf, ledgerReader } from './items.js'
import { plutusData, scriptReference } from './witnesses.js'

interface ReadOutput {
  readonly value: OutputValue
  /** Whether it pays to an address of the Byron era. */
  readonly isByron: boolean
}

/** Reads an output: an array as before Babbage, or a map. @throws DecodeError */
export function readOutput(reader: CborReader): ReadOutput {
  return isShortMap(reader) ? readMap(reader) : readArray(reader)
}

/** The value of an output. @param output CBOR @throws DecodeError */
export function valueOfOutput(output: Uint8Array): OutputValue {
  const reader = ledgerReader(output)
  const { value } = readOutput(reader)
  reader.assertEnd()
  return value
}

/** The address of an output that was read before. @throws DecodeError */
export function addressOfOutput(output: Uint8Array): Uint8Array {
  const reader = ledgerReader(output)
  const isMap = isShortMap(reader)
  const count = isMap ? reader.readMap() : reader.readArray()
  for (let index = 0; isMap && reader.hasNext(count, index) && reader.readUint() !== 0; index++) reader.skip()
  return reader.readBytes()
}

/** CIP-19: a script without a stake part. */
const enterpriseScript = 7

/** Whether an output that was read before is at the enterprise address of a script, on any network. */
export function isAtScript(output: Uint8Array, hash: Uint8Array): boolean {
  const address = addressOfOutput(output)
  return (address[0] ?? 0) >> 4 === enterpriseScript && equalBytes(address.subarray(1), hash)
}

function readArray(reader: CborReader): ReadOutput {
  const start = reader.position
  const count = reader.readArray()
  const isByron = readOutputAddress(reader)
  const value = readValue(reader)
  const hasHash = reader.hasNext(count, 2)
  if (hasHash) {
    reader.readBytesOf(32)
    reader.leaveArray(count, 3, start)
  } else if (count >= 0) reader.leaveArray(count, 2, start)
  return { value, isByron }
}

function readMap(reader: CborReader): ReadOutput {
  const start = reader.position
  let isByron: boolean | undefined
  let value: OutputValue | undefined
  fieldsOf({
    0: (item) => {
      isByron = readOutputAddress(item)
    },
    1: (item) => {
      value = readValue(item)
    },
    2: readDatum,
    3: scriptReference,
  })(reader)
  if (isByron === undefined || value === undefined)
    throw reader.error('CBOR_MISSING_FIELD', 'an output without address or value', start)
  return { value, isByron }
}

/** `[0, hash]` or `[1, 24(bytes .cbor data)]`. */
function readDatum(reader: CborReader): void {
  readRecord(reader, 2, (pair) => {
    const start = pair.position
    const kind = pair.readUint()
    if (kind === 0) pair.readBytesOf(32)
    else if (kind === 1) readEncoded(pair, plutusData)
    else throw pair.error('CBOR_UNKNOWN_VARIANT', `a datum of kind ${kind}`, start)
  })
}

/** Lovelace, and quantities by policy and asset name in hex, joined. */
export interface OutputValue {
  readonly lovelace: bigint
  readonly assets: ReadonlyMap<string, bigint>
}

/** A sum of values. Assets whose sum is zero are not in it. */
export class Sum {
  lovelace = 0n
  readonly assets = new Map<string, bigint>()

  /** Adds a value a number of times, which may be -1. */
  add({ lovelace, assets }: OutputValue, times = 1n): this {
    this.lovelace += times * lovelace
    for (const [asset, quantity] of assets) {
      const sum = (this.assets.get(asset) ?? 0n) + times * quantity
      if (sum === 0n) this.assets.delete(asset)
      else this.assets.set(asset, sum)
    }
    return this
  }

  get isZero(): boolean {
    return this.lovelace === 0n && this.assets.size === 0
  }
}

const noAssets: ReadonlyMap<string, bigint> = new Map()

/** Lovelace alone. */
export const ada = (lovelace: bigint): OutputValue => ({ lovelace, assets: noAssets })

/** Bytes of a policy id, and most bytes of an asset name. */
const policyBytes = 28
const maxNameBytes = 32

/** The ledger packs the assets of a value into as many bytes: numbers (12 for each), names, policies. */
const maxPackedBytes = 65_535

/** Reads the value of an output: lovelace, or lovelace and assets, each quantity from 1 to 2^64 - 1. */
function readValue(reader: CborReader): OutputValue {
  if (reader.peekMajor() === 0) return ada(reader.readUint64())
  return readRecord(reader, 2, (pair) => ({
    lovelace: pair.readUint64(),
    assets: readAssets(pair, (quantity) => quantity.readUint64()),
  }))
}

/** Reads what is minted, or burned if negative: from -2^63 to 2^63 - 1. */
export const readMint = (reader: CborReader): ReadonlyMap<string, bigint> => {
  const start = reader.position
  const assets = readAssets(reader, (quantity) => quantity.readInt64())
  if (assets.size === 0) throw reader.error('CBOR_EMPTY', 'a mint of nothing', start)
  return assets
}

/** Reads quantities by policy and name. None is zero, and no policy is without assets. */
function readAssets(
  reader: CborReader,
  readQuantity: (reader: CborReader) => bigint,
): ReadonlyMap<string, bigint> {
  const start = reader.position
  const assets = new Map<string, bigint>()
  const policies = readMapOf(reader, readPolicy, (names, policy) => {
    const before = assets.size
    const namesStart = names.position
    readMapOf(names, readName, (item, name) => {
      const quantityStart = item.position
      const quantity = readQuantity(item)
      if (quantity === 0n) throw item.error('CBOR_OUT_OF_RANGE', 'a quantity of zero', quantityStart)
      assets.set(policy + name, quantity)
    })
    if (assets.size === before) throw names.error('CBOR_EMPTY', 'a policy without assets', namesStart)
  })
  if ((12 + maxNameBytes) * assets.size + policyBytes * policies.size > maxPackedBytes)
    throw reader.error('CBOR_OUT_OF_RANGE', `${assets.size} assets in one value`, start)
  return assets
}

const readPolicy = (reader: CborReader): string => toHex(reader.readBytesOf(policyBytes))

function readName(reader: CborReader): string {
  const start = reader.position
  const name = reader.readBytes()
  if (name.length > maxNameBytes)
    throw reader.error('CBOR_OUT_OF_RANGE', `an asset name of ${name.length} bytes`, start)
  return toHex(name)
}

/** The differences between two values, for people: `-5 lovelace, +1 ab…`. Names at most four assets. */
export function textOf({ lovelace, assets }: OutputValue): string {
  const parts = [`${lovelace} lovelace`]
  for (const [asset, quantity] of [...assets].slice(0, 4)) parts.push(`${quantity} ${asset}`)
  if (assets.size > 4) parts.push(`${assets.size - 4} further assets`)
  return parts.join(', ')
}

const hashBytes = 28

/** Bits of the numbers of a pointer address, and how many bytes they may take. */
const pointerNumbers = [
  [0xffff_ffff, 5],
  [0xffff, 3],
  [0xffff, 3],
] as const

/** The first byte of an address of the Byron era. */
const byron = 0x82

/** Reads an output's address (CIP-19, types 0 to 8): whether it is of the Byron era, and so not read. */
function readOutputAddress(reader: CborReader): boolean {
  const start = reader.position
  const address = reader.readBytes()
  if (address[0] === byron) return true
  const fault = faultOfAddress(address)
  if (fault !== undefined) throw reader.error('CBOR_OUT_OF_RANGE', fault, start)
  return false
}

/** Reads the account of a withdrawal: CIP-19, types 14 and 15. */
export function readAccount(reader: CborReader): Uint8Array {
  const start = reader.position
  const account = reader.readBytesOf(1 + hashBytes)
  const [header = 0] = account
  if (header >> 4 < 14 || (header & 15) > 1)
    throw reader.error('CBOR_OUT_OF_RANGE', 'not the address of an account', start)
  return account
}

export const isOfScript = ([header = 0]: Uint8Array): boolean => header >> 4 === 15

function faultOfAddress(address: Uint8Array): string | undefined {
  const [header] = address
  if (header === undefined) return 'an empty address'
  const type = header >> 4
  if (type > 7) return `an address of type ${type}`
  if ((header & 15) > 1) return `an address of network ${header & 15}`
  if (type === 4 || type === 5) return faultOfPointer(address)
  const expected = 1 + hashBytes * (type < 4 ? 2 : 1)
  return address.length === expected ? undefined : `an address of ${address.length} bytes`
}

function faultOfPointer(address: Uint8Array): string | undefined {
  let position = 1 + hashBytes
  for (const [maximum, groups] of pointerNumbers) {
    let value = 0
    for (let group = 0; ; group++) {
      const byte = address[position++]
      if (byte === undefined || group === groups) return 'a broken pointer in an address'
      value = value * 128 + (byte & 0x7f)
      if (value > maximum) return `a number over ${maximum} in the pointer of an address`
      if (byte < 0x80) break
    }
  }
  return position === address.length ? undefined : 'bytes after the pointer of an address'
}
