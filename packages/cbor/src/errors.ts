/** Why bytes are not a well-formed CBOR item (RFC 8949, section 5.3.1), or which limit they exceed. */
export type CborErrorCode =
  | 'CBOR_END_OF_INPUT'
  | 'CBOR_TRAILING_BYTES'
  | 'CBOR_RESERVED_ADDITIONAL_INFORMATION'
  | 'CBOR_UNEXPECTED_BREAK'
  | 'CBOR_INVALID_CHUNK'
  | 'CBOR_INVALID_SIMPLE_VALUE'
  | 'CBOR_TOO_DEEP'
  | 'CBOR_TOO_LONG'
  | 'CBOR_TOO_MANY_ITEMS'

/**
 * Why bytes cannot be decoded: they are not well-formed, or well-formed but not the structure that was
 * expected.
 */
export type DecodeErrorCode =
  | CborErrorCode
  /** The item has another major type, or a form of it that is not allowed here. */
  | 'CBOR_UNEXPECTED_TYPE'
  | 'CBOR_UNEXPECTED_TAG'
  /** An array, a map or a byte string has the wrong length. */
  | 'CBOR_UNEXPECTED_SIZE'
  | 'CBOR_OUT_OF_RANGE'
  | 'CBOR_INVALID_UTF8'
  /** A map key or a set member occurs twice. */
  | 'CBOR_DUPLICATE'
  /** A collection that must be omitted when it is empty is present and empty. */
  | 'CBOR_EMPTY'
  | 'CBOR_MISSING_FIELD'
  | 'CBOR_UNKNOWN_FIELD'
  /** The number that selects one of several layouts selects none. */
  | 'CBOR_UNKNOWN_VARIANT'

// Registered globally, so that `isDecodeError` recognises errors of another copy of this package.
const brand = Symbol.for('@ratatosk/cbor/DecodeError')

/**
 * The bytes cannot be decoded. Decoders of untrusted bytes throw this class or a subclass and nothing else:
 * {@link CborError} in this package, `AddressError` in `@ratatosk/ledger`.
 *
 * @example
 * try {
 *   decodeTransaction(bytes)
 * } catch (error) {
 *   if (!isDecodeError(error)) throw error
 *   console.log(error.code, error.path, error.offset) // 'CBOR_UNKNOWN_FIELD' 'body' 4
 * }
 */
export class DecodeError extends Error {
  override readonly name: string = 'DecodeError'
  /** Stable. A {@link DecodeErrorCode}, or a code of the package that defines the subclass. */
  readonly code: string
  /** Offset in bytes from the start of the input to the item that is wrong. */
  readonly offset: number
  /** Path to the item, such as `body.outputs[2].value`; empty at the top level. */
  path = ''
  readonly #reason: string

  constructor(code: string, offset: number, reason: string) {
    super(`${reason} (byte ${offset})`)
    this.code = code
    this.offset = offset
    this.#reason = reason
  }

  get [brand](): true {
    return true
  }

  /**
   * Prepends a step to the path while the error propagates outwards.
   *
   * @param step a field name, or an index in brackets
   */
  within(step: string): this {
    const joint = this.path === '' || this.path.startsWith('[') ? '' : '.'
    this.path = step + joint + this.path
    this.message = `${this.path}: ${this.#reason} (byte ${this.offset})`
    return this
  }
}

/** The bytes are not a well-formed CBOR item (RFC 8949, section 5.3.1), or exceed a limit of the decoder. */
export class CborError extends DecodeError {
  override readonly name = 'CborError'
  declare readonly code: CborErrorCode

  constructor(code: CborErrorCode, offset: number, reason: string) {
    super(code, offset, reason)
  }
}

/**
 * Whether a caught value is a {@link DecodeError} or one of its subclasses, from any copy of this package.
 */
export function isDecodeError(value: unknown): value is DecodeError {
  return value instanceof Error && brand in value
}

/** Whether a caught value is a {@link CborError}, from any copy of this package. */
export function isCborError(value: unknown): value is CborError {
  return isDecodeError(value) && value.name === 'CborError'
}
