import { plainBytes } from '@ratatosk/cbor'
import { AddressError } from '../errors.js'
import { decodeByronAddress } from './byron.js'
import type { Address, Credential, StakePointer } from './types.js'

const hashSize = 28
/** The first byte of every Byron address: a CBOR array of two items. */
const byronType = 0x82

/**
 * Decodes the bytes of an address (CIP-19) of any kind, as the Conway ledger does: unused header bits must be
 * clear and no bytes may follow the address.
 *
 * @param bytes the address without CBOR wrapping; the result keeps views of them
 * @throws AddressError `ADDRESS_WRONG_LENGTH`, `ADDRESS_UNKNOWN_TYPE`, `ADDRESS_WRONG_NETWORK` (network id
 *   neither 0 nor 1), or `ADDRESS_MALFORMED` (Byron addresses and stake pointers)
 */
export function decodeAddress(bytes: Uint8Array): Address {
  return readAddress(plainBytes(bytes), 0)
}

/** Like {@link decodeAddress}; errors have the offset `base`, where the item with the address begins. */
export function readAddress(bytes: Uint8Array, base: number): Address {
  if (bytes.length === 0) throw new AddressError('ADDRESS_WRONG_LENGTH', base, 'an empty address')
  const header = bytes[0] as number
  if (header === byronType) return decodeByronAddress(bytes, base)
  const type = header >> 4
  if (type > 7 && type < 14)
    throw new AddressError('ADDRESS_UNKNOWN_TYPE', base, `an address of type ${type}`)
  const networkId = header & 0x0f
  if (networkId > 1)
    throw new AddressError('ADDRESS_WRONG_NETWORK', base, `an address of network ${networkId}`)

  const expected = type < 4 ? 1 + 2 * hashSize : 1 + hashSize
  const isPointer = type === 4 || type === 5
  if (isPointer ? bytes.length <= expected : bytes.length !== expected) {
    throw new AddressError(
      'ADDRESS_WRONG_LENGTH',
      base,
      `${bytes.length} bytes of an address of type ${type}`,
    )
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
    stake: credential(header & 0x20, bytes, 1 + hashSize),
  }
}

function credential(script: number, bytes: Uint8Array, start: number): Credential {
  return { kind: script === 0 ? 'key' : 'script', hash: bytes.subarray(start, start + hashSize) }
}

/** Decodes slot, transaction index and certificate index, in groups of seven bits, most significant first. */
function readPointer(bytes: Uint8Array, start: number, base: number): StakePointer {
  let position = start
  const read = (maximum: number, groups: number): number => {
    let value = 0
    for (let group = 0; group < groups; group++) {
      if (position >= bytes.length)
        throw new AddressError('ADDRESS_WRONG_LENGTH', base, 'a truncated pointer')
      const byte = bytes[position++] as number
      value = value * 128 + (byte & 0x7f)
      if (value > maximum)
        throw new AddressError('ADDRESS_MALFORMED', base, `a pointer's number over ${maximum}`)
      if (byte < 0x80) return value
    }
    throw new AddressError('ADDRESS_MALFORMED', base, `a pointer's number of more than ${groups} groups`)
  }
  const pointer = {
    slot: read(0xffff_ffff, 5),
    transactionIndex: read(0xffff, 3),
    certificateIndex: read(0xffff, 3),
  }
  if (position < bytes.length) throw new AddressError('ADDRESS_WRONG_LENGTH', base, 'bytes after a pointer')
  return pointer
}
