import {
  type CborReader,
  isShortMap,
  located,
  Major,
  readEncoded,
  readMapOf,
  readRecord,
  readVariant,
  toHex,
  type Variants,
} from '@ratatosk/cbor'
import { readAddress } from '../address/address.js'
import type { Address } from '../address/types.js'
import { AddressError } from '../errors.js'
import { readPlutusData } from './script/plutus-data.js'
import { readTaggedScript } from './script/script.js'
import type { Assets, OutputDatum, Script, TransactionOutput, Value } from './types.js'

const noDatum: OutputDatum = { kind: 'none' }

/** Decodes a transaction output, in the array form of the Shelley era or the map form since Babbage. */
export function readOutput(reader: CborReader): TransactionOutput {
  return isShortMap(reader) ? readMapOutput(reader) : readArrayOutput(reader)
}

function readArrayOutput(reader: CborReader): TransactionOutput {
  const start = reader.position
  const count = reader.readArray()
  if (count >= 0 && count !== 2 && count !== 3) {
    throw reader.error('CBOR_UNEXPECTED_SIZE', `an output of ${count} items`, start)
  }
  let field = 'address'
  try {
    const address = readOutputAddress(reader)
    field = 'value'
    const value = readValue(reader)
    field = 'datum'
    let datum = noDatum
    if (reader.hasNext(count, 2)) {
      datum = { kind: 'hash', hash: reader.readBytesOf(32) }
      reader.leaveArray(count, 3, start)
    }
    return { bytes: reader.since(start), format: 'array', address, value, datum }
  } catch (error) {
    throw located(error, field)
  }
}

const fieldNames = ['address', 'value', 'datum', 'referenceScript'] as const

function readMapOutput(reader: CborReader): TransactionOutput {
  const start = reader.position
  const count = reader.readMap()
  let address: Address | undefined
  let value: Value | undefined
  let datum: OutputDatum | undefined
  let referenceScript: Script | undefined
  for (let index = 0; reader.hasNext(count, index); index++) {
    const keyStart = reader.position
    const key = reader.readUint()
    const name = fieldNames[key]
    if (name === undefined) throw reader.error('CBOR_UNKNOWN_FIELD', `unknown field ${key}`, keyStart)
    try {
      if (key === 0 && address === undefined) address = readOutputAddress(reader)
      else if (key === 1 && value === undefined) value = readValue(reader)
      else if (key === 2 && datum === undefined) datum = readDatum(reader)
      else if (key === 3 && referenceScript === undefined) {
        referenceScript = readEncoded(reader, readTaggedScript)
      } else throw reader.error('CBOR_DUPLICATE', 'a repeated field', keyStart)
    } catch (error) {
      throw located(error, name)
    }
  }
  if (address === undefined) throw reader.error('CBOR_MISSING_FIELD', 'an output without address', start)
  if (value === undefined) throw reader.error('CBOR_MISSING_FIELD', 'an output without value', start)
  const bytes = reader.since(start)
  datum ??= noDatum
  return referenceScript === undefined
    ? { bytes, format: 'map', address, value, datum }
    : { bytes, format: 'map', address, value, datum, referenceScript }
}

function readOutputAddress(reader: CborReader): Address {
  const start = reader.position
  const address = readAddress(reader.readBytes(), start)
  if (address.kind === 'reward') {
    throw new AddressError('ADDRESS_WRONG_KIND', start, 'a reward address instead of a payment address')
  }
  return address
}

const datumVariants: Variants<OutputDatum> = [
  [2, (reader) => ({ kind: 'hash', hash: reader.readBytesOf(32) })],
  [2, (reader) => ({ kind: 'inline', data: readEncoded(reader, readPlutusData) })],
]

function readDatum(reader: CborReader): OutputDatum {
  return readVariant(reader, 'a datum', datumVariants)
}

const policySize = 28
const maxNameSize = 32
/** The largest size of a value in the ledger's compact representation, in bytes. */
const maxCompactSize = 65_535

const noAssets: Assets = new Map()

/** Decodes an output's value: lovelace, or `[lovelace, assets]`; quantities are positive and fit 64 bits. */
function readValue(reader: CborReader): Value {
  if (reader.peekMajor() === Major.unsigned) return { lovelace: reader.readUint64(), assets: noAssets }
  return readRecord(reader, 2, readPair)
}

function readPair(reader: CborReader): Value {
  return { lovelace: reader.readUint64(), assets: readAssets(reader, (inner) => inner.readUint64()) }
}

/** Decodes the minted (positive) and burnt (negative) quantities: signed 64-bit integers other than zero. */
export function readMint(reader: CborReader): Assets {
  return readAssets(reader, (inner) => inner.readInt64())
}

function readAssets(reader: CborReader, readQuantity: (reader: CborReader) => bigint): Assets {
  const start = reader.position
  let names = 0
  const assets = readMapOf(reader, readPolicy, (inner) => {
    const namesStart = inner.position
    const quantities = readMapOf(inner, readAssetName, (quantityReader) => {
      const quantityStart = quantityReader.position
      const quantity = readQuantity(quantityReader)
      if (quantity === 0n)
        throw quantityReader.error('CBOR_OUT_OF_RANGE', 'a quantity of zero', quantityStart)
      return quantity
    })
    if (quantities.size === 0) throw inner.error('CBOR_EMPTY', 'a policy without assets', namesStart)
    names += quantities.size
    return quantities
  })
  // Each asset takes 12 bytes of numbers and at most 32 of name, each policy 28.
  if (44 * names + 28 * assets.size > maxCompactSize) {
    throw reader.error('CBOR_OUT_OF_RANGE', `${names} assets under ${assets.size} policies`, start)
  }
  return assets
}

function readPolicy(reader: CborReader): string {
  return toHex(reader.readBytesOf(policySize))
}

function readAssetName(reader: CborReader): string {
  const start = reader.position
  const name = reader.readBytes()
  if (name.length > maxNameSize) {
    throw reader.error('CBOR_OUT_OF_RANGE', `an asset name of ${name.length} bytes`, start)
  }
  return toHex(name)
}

/**
 * Splits a unit, which is the concatenation of policy id and asset name that APIs use to identify an asset.
 *
 * @param unit policy id (56 hex digits) and asset name (up to 64 hex digits); not validated
 * @returns both in hex, as in the keys of {@link Value.assets}
 */
export function splitUnit(unit: string): { readonly policy: string; readonly name: string } {
  return { policy: unit.slice(0, 56), name: unit.slice(56) }
}
