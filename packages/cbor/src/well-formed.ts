import { plainBytes } from './bytes.js'
import { CborError, isDecodeError } from './errors.js'

/** Limits that apply to all sizes that the bytes claim. */
export interface CborLimits {
  /** Nesting of arrays, maps and tags. */
  readonly maxDepth: number
  /** Length of the whole input in bytes. */
  readonly maxLength: number
  /** Number of items, including the chunks of indefinite-length strings. */
  readonly maxItems: number
}

/**
 * Depth 1,024, 16 MiB, 4 Mi items.
 *
 * The deepest structure in real transactions is Plutus data, where a constructor takes two levels (tag and
 * array); hand-built lists of nested constructors reach a few hundred. 1,024 keeps recursive decoders far
 * from the end of the stack. The longest input is a block of layer 1, at most 90,112 bytes.
 */
export const defaultLimits: CborLimits = {
  maxDepth: 1024,
  maxLength: 16 * 1024 * 1024,
  maxItems: 4 * 1024 * 1024,
}

// The next part that an open container expects: a number of items, or one of these.
const indefiniteArray = -1
const indefiniteMapKey = -2
const indefiniteMapValue = -3

/** The expectations of the containers around the open one. All walks share it: growth takes time. */
const open: number[] = []

/**
 * Walks over one item as in RFC 8949, appendix C, and returns its end. Open containers are in an array, not
 * on the stack, and nothing is allocated from a claimed length.
 * @throws CborError if the item is not well-formed or exceeds a limit
 */
export function walkItem(bytes: Uint8Array, start: number, end: number, limits: CborLimits): number {
  let position = start
  let remaining = 1
  let items = 0
  let depth = 0
  for (;;) {
    if (position >= end) throw endOfInput(end)
    const itemStart = position
    const initial = bytes[position++] as number
    const major = initial >> 5
    const info = initial & 0x1f
    if (++items > limits.maxItems) {
      throw new CborError('CBOR_TOO_MANY_ITEMS', itemStart, `more than ${limits.maxItems} items`)
    }

    if (initial === 0xff) {
      if (remaining !== indefiniteArray && remaining !== indefiniteMapKey) {
        throw new CborError('CBOR_UNEXPECTED_BREAK', itemStart, 'a break outside an indefinite-length item')
      }
      // The break closes the container, which counts as one item of the enclosing container.
      remaining = open[--depth] as number
    } else {
      if (info > 27 && (info < 31 || major < 2 || major === 6)) throw reserved(itemStart)
      let argument = info
      if (info > 23 && info < 28) {
        const width = 1 << (info - 24)
        if (width > end - position) throw endOfInput(end)
        argument = readArgument(bytes, position, width)
        position += width
      }

      let opened = 0
      if (major === 2 || major === 3) {
        if (info === 31) {
          position = walkChunks(bytes, position, end, major, limits.maxItems)
        } else {
          if (argument > end - position) throw endOfInput(end)
          position += argument
        }
      } else if (major === 4) {
        if (info === 31) opened = indefiniteArray
        else if (argument > end - position) throw endOfInput(end)
        else opened = argument
      } else if (major === 5) {
        if (info === 31) opened = indefiniteMapKey
        else if (argument > (end - position) / 2) throw endOfInput(end)
        else opened = 2 * argument
      } else if (major === 6) {
        opened = 1
      } else if (major === 7 && info === 24 && argument < 32) {
        throw new CborError(
          'CBOR_INVALID_SIMPLE_VALUE',
          itemStart,
          `simple value ${argument} encoded in two bytes`,
        )
      }

      if (opened !== 0) {
        if (depth >= limits.maxDepth) {
          throw new CborError('CBOR_TOO_DEEP', itemStart, `nested deeper than ${limits.maxDepth} levels`)
        }
        open[depth++] = remaining
        remaining = opened
        continue
      }
    }

    // One item is complete; it may also complete the containers that enclose it.
    for (;;) {
      if (remaining === indefiniteArray) break
      if (remaining === indefiniteMapKey) {
        remaining = indefiniteMapValue
        break
      }
      if (remaining === indefiniteMapValue) {
        remaining = indefiniteMapKey
        break
      }
      if (--remaining > 0) break
      if (depth === 0) return position
      remaining = open[--depth] as number
    }
  }
}

/** Walks the chunks of an indefinite-length string: definite strings of the same major type, then a break. */
function walkChunks(bytes: Uint8Array, start: number, end: number, major: number, maxItems: number): number {
  let position = start
  for (let chunks = 0; ; chunks++) {
    if (position >= end) throw endOfInput(end)
    const chunkStart = position
    const initial = bytes[position++] as number
    if (initial === 0xff) return position
    if (chunks >= maxItems)
      throw new CborError('CBOR_TOO_MANY_ITEMS', chunkStart, `more than ${maxItems} chunks`)
    const info = initial & 0x1f
    if (initial >> 5 !== major || info === 31) {
      throw new CborError(
        'CBOR_INVALID_CHUNK',
        chunkStart,
        'a chunk that is not a definite-length string of the same type',
      )
    }
    if (info > 27) throw reserved(chunkStart)
    let length = info
    if (info > 23) {
      const width = 1 << (info - 24)
      if (width > end - position) throw endOfInput(end)
      length = readArgument(bytes, position, width)
      position += width
    }
    if (length > end - position) throw endOfInput(end)
    position += length
  }
}

/** A big-endian number of 1, 2, 4 or 8 bytes; above 2^53 it is rounded, and still exceeds any length. */
export function readArgument(bytes: Uint8Array, position: number, width: number): number {
  let value = bytes[position] as number
  for (let i = 1; i < width; i++) value = value * 256 + (bytes[position + i] as number)
  return value
}

export function endOfInput(offset: number): CborError {
  return new CborError('CBOR_END_OF_INPUT', offset, 'the input ends within an item')
}

export function reserved(offset: number): CborError {
  return new CborError('CBOR_RESERVED_ADDITIONAL_INFORMATION', offset, 'reserved additional information')
}

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
