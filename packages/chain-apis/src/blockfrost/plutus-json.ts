import { CborReader, Major, toHex } from '@ratatosk/cbor'
import { readChunks } from './raw-cbor.js'

/** Plutus data in cardano-cli's detailed JSON schema. */
type PlutusJson =
  | { readonly int: bigint }
  | { readonly bytes: string }
  | { readonly list: readonly PlutusJson[] }
  | { readonly map: readonly { readonly k: PlutusJson; readonly v: PlutusJson }[] }
  | { readonly constructor: number; readonly fields: readonly PlutusJson[] }

/**
 * Converts Plutus data to JSON.
 *
 * @param data valid Plutus data in CBOR, as decoded by the ledger
 */
export function plutusJson(data: Uint8Array): PlutusJson {
  return read(new CborReader(data))
}

function read(reader: CborReader): PlutusJson {
  switch (reader.peekMajor()) {
    case Major.unsigned:
    case Major.negative:
      return { int: reader.readInteger() }
    case Major.bytes:
      return { bytes: toHex(readBytes(reader)) }
    case Major.array:
      return { list: readList(reader) }
    case Major.map:
      return { map: readMap(reader) }
    default:
      return readTagged(reader)
  }
}

function readTagged(reader: CborReader): PlutusJson {
  const tag = reader.readTag()
  if (tag === 2 || tag === 3) {
    const magnitude = BigInt(`0x0${toHex(readBytes(reader))}`)
    return { int: tag === 2 ? magnitude : -1n - magnitude }
  }
  if (tag !== 102) {
    return { constructor: tag < 1280 ? tag - 121 : tag - 1280 + 7, fields: readList(reader) }
  }
  const count = reader.readArray()
  const data = { constructor: reader.readUint(), fields: readList(reader) }
  if (count === -1) reader.hasNext(count, 2)
  return data
}

function readList(reader: CborReader): PlutusJson[] {
  const items: PlutusJson[] = []
  const count = reader.readArray()
  for (let i = 0; reader.hasNext(count, i); i++) items.push(read(reader))
  return items
}

function readMap(reader: CborReader): { k: PlutusJson; v: PlutusJson }[] {
  const entries: { k: PlutusJson; v: PlutusJson }[] = []
  const count = reader.readMap()
  for (let i = 0; reader.hasNext(count, i); i++) entries.push({ k: read(reader), v: read(reader) })
  return entries
}

function readBytes(reader: CborReader): Uint8Array {
  return Buffer.concat(readChunks(reader, Major.bytes, () => reader.readBytes()))
}
