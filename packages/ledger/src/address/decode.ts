import { plainBytes } from '../bytes.js'
import { AddressError } from '../errors.js'
import { decodeByronAddress } from './byron.js'
import type { Address, Credential, StakePointer } from './types.js'

const HASH_SIZE = 28
/** The only first byte of Byron addresses: an array of two. */
const BYRON = 0x82

/**
 * Reads the bytes of an address (CIP-19) as the Conway ledger does: unused header bits are clear, nothing is left over.
 *
 * @param bytes the address without any wrapping; the result keeps views of them
 * @throws AddressError `wrong-length`, `unknown-type`, `wrong-network` (neither 0 nor 1), or `malformed` (Byron, pointers)
 */
export function decodeAddress(bytes: Uint8Array): Address {
  return readAddress(plainBytes(bytes), 0)
}

/** The same; errors say the offset `base`, where the item that holds the address begins. */
export function readAddress(bytes: Uint8Array, base: number): Address {
  if (bytes.length === 0) throw new AddressError('wrong-length', base, 'an empty address')
  const header = bytes[0] as number
  if (header === BYRON) return decodeByronAddress(bytes, base)
  const type = header >> 4
  if (type > 7 && type < 14) throw new AddressError('unknown-type', base, `an address of type ${type}`)
  const networkId = header & 0x0f
  if (networkId > 1) throw new AddressError('wrong-network', base, `an address of network ${networkId}`)

  const expected = type < 4 ? 1 + 2 * HASH_SIZE : 1 + HASH_SIZE
  const isPointer = type === 4 || type === 5
  if (isPointer ? bytes.length <= expected : bytes.length !== expected) {
    throw new AddressError('wrong-length', base, `${bytes.length} bytes of an address of type ${type}`)
  }
  const first = credential(header & 0x10, bytes, 1)
  if (type > 13) return { kind: 'reward', bytes, networkId, stake: first }
  if (type > 5) return { kind: 'enterprise', bytes, networkId, payment: first }
  if (isPointer) {
    return { kind: 'pointer', bytes, networkId, payment: first, pointer: readPointer(bytes, expected, base) }
  }
  return {
    kind: 'base',
    bytes,
    networkId,
    payment: first,
    stake: credential(header & 0x20, bytes, 1 + HASH_SIZE),
  }
}

function credential(script: number, bytes: Uint8Array, start: number): Credential {
  return { kind: script === 0 ? 'key' : 'script', hash: bytes.subarray(start, start + HASH_SIZE) }
}

/** Slot, transaction index and certificate index, in groups of seven bits, the most significant first. */
function readPointer(bytes: Uint8Array, start: number, base: number): StakePointer {
  let position = start
  const read = (maximum: number, groups: number): number => {
    let value = 0
    for (let group = 0; group < groups; group++) {
      if (position >= bytes.length) throw new AddressError('wrong-length', base, 'a pointer that ends early')
      const byte = bytes[position++] as number
      value = value * 128 + (byte & 0x7f)
      if (value > maximum) throw new AddressError('malformed', base, `a pointer's number over ${maximum}`)
      if (byte < 0x80) return value
    }
    throw new AddressError('malformed', base, `a pointer's number of more than ${groups} groups`)
  }
  const pointer = {
    slot: read(0xffff_ffff, 5),
    transactionIndex: read(0xffff, 3),
    certificateIndex: read(0xffff, 3),
  }
  if (position < bytes.length) throw new AddressError('wrong-length', base, 'bytes after a pointer')
  return pointer
}
