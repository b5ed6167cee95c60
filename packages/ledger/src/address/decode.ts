import { CborReader, isDecodeError, plainBytes } from '@ratatosk/cbor'
import { AddressError } from '../errors.js'
import { readByronAttributes } from './byron-attributes.js'
import type { Address, ByronAddress, Credential, StakePointer } from './types.js'

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

/**
 * Decodes a Byron address: `[24(payload), crc32]` with `payload = [root, attributes, type]`. As in the Byron
 * era, lengths must be definite and the keys of the attributes strictly ascending.
 */
function decodeByronAddress(bytes: Uint8Array, base: number): ByronAddress {
  try {
    return read(bytes)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new AddressError('ADDRESS_MALFORMED', base, `a Byron address: ${error.message}`)
  }
}

function read(bytes: Uint8Array): ByronAddress {
  const outer = new CborReader(bytes)
  if (outer.readArray() !== 2) throw outer.error('CBOR_UNEXPECTED_SIZE', 'not an array of two items', 0)
  if (outer.readTag() !== 24) throw outer.error('CBOR_UNEXPECTED_TAG', 'not tagged as encoded CBOR', 1)
  const payload = outer.readBytes()
  const checksumStart = outer.position
  const checksum = outer.readUint(0xffff_ffff)
  outer.assertEnd()
  if (crc32(payload) !== checksum)
    throw new AddressError('ADDRESS_MALFORMED', checksumStart, 'a wrong checksum')

  const inner = new CborReader(bytes, checksumStart - payload.length, checksumStart)
  if (inner.readArray() !== 3) throw inner.error('CBOR_UNEXPECTED_SIZE', 'not an array of three items')
  const root = inner.readBytesOf(28)
  const attributesStart = inner.position
  const { networkMagic } = readByronAttributes(inner)
  const attributes = inner.since(attributesStart)
  const type = inner.readUint()
  if (type !== 0 && type !== 2) throw inner.error('CBOR_UNKNOWN_VARIANT', `the type ${type}`)
  inner.assertEnd()
  const spending = type === 0 ? 'key' : 'redeem'
  return networkMagic === undefined
    ? { kind: 'byron', bytes, networkId: 1, root, attributes, spending }
    : { kind: 'byron', bytes, networkId: 0, root, attributes, spending, networkMagic }
}

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let remainder = index
  for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ (remainder & 1 ? 0xedb8_8320 : 0)
  return remainder
})

/** CRC-32 as in ISO 3309, which Byron addresses end with. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffff_ffff
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] as number)
  return (crc ^ 0xffff_ffff) >>> 0
}
