import { CborError } from '../errors.js'
import type { CborLimits } from './limits.js'

// What an open container still waits for: a count of items, or one of these.
const indefiniteArray = -1
const indefiniteMapKey = -2
const indefiniteMapValue = -3

/**
 * Walks over exactly one item by RFC 8949, appendix C, and says where it ends. Open containers are kept in an array, not on
 * the stack; nothing is allocated from a claimed length.
 *
 * @returns the offset after the item
 * @throws CborError where the item is not well-formed or a bound is broken
 */
export function walkItem(bytes: Uint8Array, start: number, end: number, limits: CborLimits): number {
  let position = start
  let remaining = 1
  let items = 0
  const open: number[] = []
  for (;;) {
    if (position >= end) throw endOfInput(end)
    const itemStart = position
    const initial = bytes[position++] as number
    const major = initial >> 5
    const info = initial & 0x1f
    if (++items > limits.maxItems) {
      throw new CborError('too-many-items', itemStart, `more than ${limits.maxItems} items`)
    }

    if (initial === 0xff) {
      if (remaining !== indefiniteArray && remaining !== indefiniteMapKey) {
        throw new CborError('unexpected-break', itemStart, 'a break where no indefinite-length item may end')
      }
      // The break closes the container, which is an item of the one around it: fall through to counting.
      remaining = open.pop() as number
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
        throw new CborError('invalid-simple-value', itemStart, `simple value ${argument} in two bytes`)
      }

      if (opened !== 0) {
        if (open.length >= limits.maxDepth) {
          throw new CborError('too-deep', itemStart, `nested deeper than ${limits.maxDepth}`)
        }
        open.push(remaining)
        remaining = opened
        continue
      }
    }

    // One item is complete; it may complete the containers around it.
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
      if (open.length === 0) return position
      remaining = open.pop() as number
    }
  }
}

/** The chunks of an indefinite string: definite strings of the same major type, then a break. */
function walkChunks(bytes: Uint8Array, start: number, end: number, major: number, maxItems: number): number {
  let position = start
  for (let chunks = 0; ; chunks++) {
    if (position >= end) throw endOfInput(end)
    const chunkStart = position
    const initial = bytes[position++] as number
    if (initial === 0xff) return position
    if (chunks >= maxItems) throw new CborError('too-many-items', chunkStart, `more than ${maxItems} chunks`)
    const info = initial & 0x1f
    if (initial >> 5 !== major || info === 31) {
      throw new CborError('invalid-chunk', chunkStart, 'a chunk that is no definite string of the same type')
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

/** A big-endian number of 1, 2, 4 or 8 bytes; exact up to 2^53, and above it still greater than any length. */
export function readArgument(bytes: Uint8Array, position: number, width: number): number {
  let value = bytes[position] as number
  for (let i = 1; i < width; i++) value = value * 256 + (bytes[position + i] as number)
  return value
}

export function endOfInput(offset: number): CborError {
  return new CborError('end-of-input', offset, 'the input ends inside an item')
}

export function reserved(offset: number): CborError {
  return new CborError(
    'reserved-additional-information',
    offset,
    'additional information that RFC 8949 reserves',
  )
}
