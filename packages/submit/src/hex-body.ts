import { isWellFormed } from '@ratatosk/ledger'
import { InvalidCborError, MissingContentTypeError, TransactionTooLargeError } from './errors.js'

/** White space that a body may have around its digits, in bytes: what editors and shells leave behind, and plenty. */
export const whiteSpaceAllowance = 1024

/**
 * Reads bodies of hex digits, of either case, with white space around them.
 *
 * @param maxTransactionSize bytes of CBOR
 * @returns a function from the body to the CBOR, throwing {@link InvalidCborError}, {@link TransactionTooLargeError},
 * or {@link MissingContentTypeError} for a request without a body to parse
 */
export function hexBodyReader(maxTransactionSize: number): (body: Buffer | null) => Uint8Array {
  const maxDigits = 2 * maxTransactionSize
  return (body) => {
    if (body === null) throw new MissingContentTypeError()
    let start = 0
    let end = body.length
    while (start < end && isWhiteSpace(body[start])) start++
    while (end > start && isWhiteSpace(body[end - 1])) end--
    if (end - start > maxDigits) throw new TransactionTooLargeError()
    // Latin-1, so that each byte is one character: of a wider one, Node would take the low byte for the digit.
    // Decoding stops at the first character that is no digit, so the length tells whether all of them were.
    const cbor = Buffer.from(body.toString('latin1', start, end), 'hex')
    if (2 * cbor.length !== end - start || !isWellFormed(cbor)) throw new InvalidCborError()
    return cbor
  }
}

/** Space, tab, line feed, vertical tab, form feed, carriage return. */
function isWhiteSpace(byte: number | undefined): boolean {
  return byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d)
}
