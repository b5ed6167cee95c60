/**
 * Bytes that are not what they should be. Everything that reads strangers' bytes in this package throws this class, its
 * subclass {@link CborError}, or {@link AddressError} where an address was asked for; nothing else.
 *
 * @example
 * try {
 *   decodeTransaction(bytes)
 * } catch (error) {
 *   if (!isDecodeError(error)) throw error
 *   console.log(error.code, error.path, error.offset) // 'unknown-field' 'body' 4
 * }
 */
export class DecodeError extends Error {
  override readonly name: string = 'DecodeError'
  /** Stable, for programs: `unexpected-type`, `duplicate`, `missing-field`, … */
  readonly code: DecodeErrorCode
  /** The byte, counted from the start of what was decoded, at which the offending item begins. */
  readonly offset: number
  /** Where in the structure: `body.outputs[2].value`; empty at the top. */
  path = ''
  readonly #reason: string

  constructor(code: DecodeErrorCode, offset: number, reason: string) {
    super(`${reason} (byte ${offset})`)
    this.code = code
    this.offset = offset
    this.#reason = reason
  }

  /** Puts a step before the path, as the error passes outwards through the structure. */
  within(step: string): this {
    const joint = this.path === '' || this.path.startsWith('[') ? '' : '.'
    this.path = step + joint + this.path
    this.message = `${this.path}: ${this.#reason} (byte ${this.offset})`
    return this
  }
}

/** The bytes are no well-formed CBOR item (RFC 8949, section 5.3.1), or break a bound of the decoder. */
export class CborError extends DecodeError {
  override readonly name = 'CborError'
  declare readonly code: CborErrorCode

  constructor(code: CborErrorCode, offset: number, reason: string) {
    super(code, offset, reason)
  }
}

/** A text or bytes that are no address; `code` says at which step it failed. */
export class AddressError extends DecodeError {
  override readonly name = 'AddressError'
  declare readonly code: AddressErrorCode

  constructor(code: AddressErrorCode, offset: number, reason: string) {
    super(code, offset, reason)
  }
}

export type CborErrorCode =
  | 'end-of-input'
  | 'trailing-bytes'
  | 'reserved-additional-information'
  | 'unexpected-break'
  | 'invalid-chunk'
  | 'invalid-simple-value'
  | 'too-deep'
  | 'too-long'
  | 'too-many-items'

export type AddressErrorCode =
  /** The text is not bech32 at all: alphabet, checksum, mixed case, no separator, padding. */
  | 'not-bech32'
  /** Bech32 with a prefix that no address has, or not the one that its header asks for. */
  | 'wrong-prefix'
  | 'wrong-network'
  | 'wrong-length'
  | 'unknown-type'
  /** A Byron address whose CBOR, root or checksum is wrong, or a pointer whose numbers overflow. */
  | 'malformed'

export type DecodeErrorCode =
  | CborErrorCode
  | AddressErrorCode
  /** An item of another major type or size than the structure has there. */
  | 'unexpected-type'
  | 'unexpected-tag'
  | 'unexpected-size'
  | 'out-of-range'
  | 'invalid-utf8'
  | 'duplicate'
  | 'empty'
  | 'missing-field'
  | 'unknown-field'
  | 'unknown-variant'

/** Whether a caught value is one of this package's decoding errors; works across copies of the package. */
export function isDecodeError(value: unknown): value is DecodeError {
  if (!(value instanceof Error)) return false
  return value.name === 'DecodeError' || value.name === 'CborError' || value.name === 'AddressError'
}
