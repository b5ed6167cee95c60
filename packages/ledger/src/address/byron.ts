import { CborReader } from '../cbor/reader.js'
import { AddressError, isDecodeError } from '../errors.js'
import { readByronAttributes } from './byron-attributes.js'
import { crc32 } from './crc32.js'
import type { ByronAddress } from './types.js'

/**
 * A Byron address: `[24(payload), crc32]` with `payload = [root, attributes, type]`, by the rules of the Byron era: definite
 * lengths, and the attributes' keys in strictly rising order.
 */
export function decodeByronAddress(bytes: Uint8Array, base: number): ByronAddress {
  try {
    return read(bytes)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new AddressError('malformed', base, `a Byron address: ${error.message}`)
  }
}

function read(bytes: Uint8Array): ByronAddress {
  const outer = new CborReader(bytes)
  if (outer.readArray() !== 2) throw outer.error('unexpected-size', 'no array of two items', 0)
  if (outer.readTag() !== 24) throw outer.error('unexpected-tag', 'no encoded CBOR', 1)
  const payload = outer.readBytes()
  const checksumStart = outer.position
  const checksum = outer.readUint(0xffff_ffff)
  outer.assertEnd()
  if (crc32(payload) !== checksum) throw outer.error('malformed', 'a wrong checksum', checksumStart)

  const inner = new CborReader(bytes, checksumStart - payload.length, checksumStart)
  if (inner.readArray() !== 3) throw inner.error('unexpected-size', 'no array of three items')
  const root = inner.readBytesOf(28)
  const attributesStart = inner.position
  const { networkMagic } = readByronAttributes(inner)
  const attributes = inner.since(attributesStart)
  const type = inner.readUint()
  if (type !== 0 && type !== 2) throw inner.error('unknown-variant', `the type ${type}`)
  inner.assertEnd()
  const spending = type === 0 ? 'key' : 'redeem'
  return networkMagic === undefined
    ? { kind: 'byron', bytes, networkId: 1, root, attributes, spending }
    : { kind: 'byron', bytes, networkId: 0, root, attributes, spending, networkMagic }
}
