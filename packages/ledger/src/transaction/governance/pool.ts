import { toHex } from '../../bytes.js'
import type { CborReader } from '../../cbor/reader.js'
import { readList, readNullable, readRecord, readSet, readVariant } from '../../cbor/structure.js'
import { readHash28, readRewardAddress, readShortText, readUnitInterval } from './primitives.js'

/** The nine items of a pool's parameters, as they stand in its registration. */
export function readPoolParameters(reader: CborReader): {
  readonly operator: Uint8Array
  readonly owners: readonly Uint8Array[]
} {
  const operator = readHash28(reader)
  reader.readBytesOf(32) // VRF key hash
  reader.readUint64() // pledge
  reader.readUint64() // cost
  readUnitInterval(reader) // margin
  readRewardAddress(reader)
  const owners = readSet(reader, readHash28, toHex)
  readList(reader, readRelay)
  readNullable(reader, readPoolMetadata)
  return { operator, owners }
}

function readRelay(reader: CborReader): void {
  readVariant(reader, (inner, variant) => {
    switch (variant) {
      case 0:
        readNullable(inner, readPort)
        readNullable(inner, (address) => address.readBytesOf(4))
        readNullable(inner, (address) => address.readBytesOf(16))
        return [4, undefined]
      case 1:
        readNullable(inner, readPort)
        readShortText(inner)
        return [3, undefined]
      case 2:
        readShortText(inner)
        return [2, undefined]
      default:
        throw inner.error('unknown-variant', `a relay of kind ${variant}`)
    }
  })
}

function readPort(reader: CborReader): number {
  return reader.readUint(0xffff)
}

/** The length of the hash is a matter of the POOL rule, not of decoding. */
function readPoolMetadata(reader: CborReader): void {
  readRecord(reader, 2, (inner) => {
    readShortText(inner)
    inner.readBytes()
  })
}
