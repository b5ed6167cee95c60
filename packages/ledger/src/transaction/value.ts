import { toHex } from '../bytes.js'
import { type CborReader, Major } from '../cbor/reader.js'
import { readMapOf, readRecord } from '../cbor/structure.js'
import type { Assets, Value } from './types.js'

const POLICY_SIZE = 28
const MAX_NAME_SIZE = 32
/** What the ledger's compact form of a value can address. */
const MAX_COMPACT_SIZE = 65_535

const noAssets: Assets = new Map()

/** An output's value: lovelace, or `[lovelace, assets]`. Quantities are positive, none above 64 bits. */
export function readValue(reader: CborReader): Value {
  if (reader.peekMajor() === Major.unsigned) return { lovelace: reader.readUint64(), assets: noAssets }
  return readRecord(reader, 2, readPair)
}

function readPair(reader: CborReader): Value {
  return { lovelace: reader.readUint64(), assets: readAssets(reader, (inner) => inner.readUint64()) }
}

/** What a transaction mints (positive) and burns (negative): signed integers of 64 bits, none zero. */
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
      if (quantity === 0n) throw quantityReader.error('out-of-range', 'a quantity of zero', quantityStart)
      return quantity
    })
    if (quantities.size === 0) throw inner.error('empty', 'a policy without assets', namesStart)
    names += quantities.size
    return quantities
  })
  // 12 bytes of numbers and at most 32 of name an asset, 28 a policy.
  if (44 * names + 28 * assets.size > MAX_COMPACT_SIZE) {
    throw reader.error('out-of-range', `${names} assets under ${assets.size} policies`, start)
  }
  return assets
}

function readPolicy(reader: CborReader): string {
  return toHex(reader.readBytesOf(POLICY_SIZE))
}

function readAssetName(reader: CborReader): string {
  const start = reader.position
  const name = reader.readBytes()
  if (name.length > MAX_NAME_SIZE) {
    throw reader.error('out-of-range', `an asset name of ${name.length} bytes`, start)
  }
  return toHex(name)
}
