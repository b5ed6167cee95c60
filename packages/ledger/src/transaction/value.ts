import { type CborReader, Major, readMapOf, readRecord, toHex } from '@ratatosk/cbor'
import type { Assets, Value } from './types.js'

const policySize = 28
const maxNameSize = 32
/** The largest size of a value in the ledger's compact representation, in bytes. */
const maxCompactSize = 65_535

const noAssets: Assets = new Map()

/** Decodes an output's value: lovelace, or `[lovelace, assets]`; quantities are positive and fit 64 bits. */
export function readValue(reader: CborReader): Value {
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
