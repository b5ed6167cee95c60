import { type CborReader, equalBytes, isShortMap, readEncoded, readRecord } from '@ratatosk/cbor'
import { type OutputValue, readValue } from '../value.js'
import { readOutputAddress } from './address.js'
import { fieldsOf, ledgerReader } from './items.js'
import { plutusData, scriptReference } from './scripts.js'

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
