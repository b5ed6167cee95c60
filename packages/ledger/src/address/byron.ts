import { CborReader, isDecodeError } from '@ratatosk/cbor'
import { AddressError } from '../errors.js'
import { readByronAttributes } from './byron-attributes.js'
import { crc32 } from './crc32.js'
import type { ByronAddress } from './types.js'

/**
 * Decodes a Byron address: `[24(payload), crc32]` with `payload = [root, attributes, type]`. As in the Byron
 * era, lengths must be definite and the keys of the attributes strictly ascending.
 */
export function decodeByronAddress(bytes: Uint8Array, base: number): ByronAddress {
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
