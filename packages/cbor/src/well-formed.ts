import { plainBytes } from './bytes.js'
import { CborError, isDecodeError } from './errors.js'
import { type CborLimits, defaultLimits, walkItem } from './walk.js'

/**
 * Checks that the bytes are exactly one well-formed CBOR item (RFC 8949, section 5.3.1).
 *
 * Well-formed is weaker than valid: duplicate map keys and invalid UTF-8 pass here, and decoders refuse them
 * where their structure forbids them.
 *
 * @param limits override {@link defaultLimits}
 * @throws CborError with the offset at which the item is wrong
 */
export function assertWellFormed(bytes: Uint8Array, limits?: Partial<CborLimits>): void {
  const bounds = limits === undefined ? defaultLimits : { ...defaultLimits, ...limits }
  if (bytes.length > bounds.maxLength) {
    throw new CborError('CBOR_TOO_LONG', 0, `${bytes.length} bytes, more than ${bounds.maxLength}`)
  }
  const end = walkItem(plainBytes(bytes), 0, bytes.length, bounds)
  if (end < bytes.length) {
    throw new CborError('CBOR_TRAILING_BYTES', end, `${bytes.length - end} bytes after the item`)
  }
}

/**
 * Whether the bytes are exactly one well-formed CBOR item within the limits.
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
