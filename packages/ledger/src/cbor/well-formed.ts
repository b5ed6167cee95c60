import { plainBytes } from '../bytes.js'
import { CborError, isDecodeError } from '../errors.js'
import { type CborLimits, defaultLimits } from './limits.js'
import { walkItem } from './walk.js'

/**
 * Throws unless the bytes are exactly one well-formed CBOR item with nothing after it (RFC 8949, section 5.3.1). Well-formed
 * is less than valid: duplicate map keys and text that is no UTF-8 pass here and are refused by the decoders of what
 * must not have them.
 *
 * @param limits bounds that replace the defaults: depth 1,024, 16 MiB, 4 Mi items
 * @throws CborError with the offset at which the item breaks
 */
export function assertWellFormed(bytes: Uint8Array, limits?: Partial<CborLimits>): void {
  const bounds = limits === undefined ? defaultLimits : { ...defaultLimits, ...limits }
  if (bytes.length > bounds.maxLength) {
    throw new CborError('too-long', 0, `${bytes.length} bytes, more than ${bounds.maxLength}`)
  }
  const end = walkItem(plainBytes(bytes), 0, bytes.length, bounds)
  if (end < bytes.length) {
    throw new CborError('trailing-bytes', end, `${bytes.length - end} bytes after the item`)
  }
}

/**
 * Whether the bytes are exactly one well-formed CBOR item within the bounds.
 *
 * @example
 * isWellFormed(fromHex('8201a0')) // true
 * isWellFormed(fromHex('82')) // false
 */
export function isWellFormed(bytes: Uint8Array, limits?: Partial<CborLimits>): boolean {
  try {
    assertWellFormed(bytes, limits)
    return true
  } catch (error) {
    if (isDecodeError(error)) return false
    throw error
  }
}
