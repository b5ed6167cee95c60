import { type CborReader, isShortMap, located, readEncoded, readVariant, type Variants } from '@ratatosk/cbor'
import { readAddress } from '../address/decode.js'
import type { Address } from '../address/types.js'
import { AddressError } from '../errors.js'
import { readPlutusData } from './script/plutus-data.js'
import { readTaggedScript } from './script/script.js'
import type { OutputDatum, Script, TransactionOutput, Value } from './types.js'
import { readValue } from './value.js'

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
