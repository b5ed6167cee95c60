import {
  type CborReader,
  readList,
  readNullable,
  readRecord,
  readSet,
  readVariant,
  toHex,
  type Variants,
} from '@ratatosk/cbor'
import { readHash28, readRewardAddress, readShortText, readUnitInterval } from './primitives.js'

/** Decodes the nine items of pool parameters in a pool registration. */
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

const relayVariants: Variants<void> = [
  [
    4,
    (reader) => {
      readNullable(reader, readPort)
      readNullable(reader, (address) => address.readBytesOf(4))
      readNullable(reader, (address) => address.readBytesOf(16))
    },
  ],
  [
    3,
    (reader) => {
      readNullable(reader, readPort)
      readShortText(reader)
    },
  ],
  [2, readShortText],
]

function readRelay(reader: CborReader): void {
  readVariant(reader, 'a relay', relayVariants)
}

function readPort(reader: CborReader): number {
  return reader.readUint(0xffff)
}

/** The POOL rule, not the decoder, checks the length of the hash. */
function readPoolMetadata(reader: CborReader): void {
  readRecord(reader, 2, (inner) => {
    readShortText(inner)
    inner.readBytes()
  })
}
