import { compareBytes } from '@ratatosk/cbor'
import { BlockError } from './errors.js'

/**
 * An incremental parser: yields the number of bytes that it needs next, is resumed with exactly that many,
 * and returns its result.
 */
export type Grammar<Result> = Generator<number, Result, Uint8Array>

/** Drives a grammar with pieces of any size, as they arrive from a connection or from table rows. */
export interface Feed<Result> {
  /**
   * Parses as far as the bytes so far allow.
   *
   * @throws {BlockError} `BLOCK_BODY_MALFORMED` as soon as no continuation is valid, which includes bytes
   *   after the end; `BLOCK_BODY_TOO_LARGE` beyond the limit
   */
  push(piece: Uint8Array): void
  /**
   * The result of the grammar.
   *
   * @throws {BlockError} `BLOCK_BODY_MALFORMED` when the input is truncated
   */
  end(): Result
}

/** @param maxBytes limit of the whole input */
export function createFeed<Result>(grammar: Grammar<Result>, maxBytes: number): Feed<Result> {
  let pieces: Uint8Array[] = []
  let available = 0
  let consumed = 0
  let step = grammar.next()

  /** Takes `length` bytes off the front: a view when they lie in one piece, a copy otherwise. */
  function take(length: number): Uint8Array {
    const [first = new Uint8Array(0)] = pieces
    const front = first.length >= length ? first : join(pieces, available)
    const rest = front.subarray(length)
    if (front !== first) pieces = rest.length > 0 ? [rest] : []
    else if (rest.length > 0) pieces[0] = rest
    else pieces.shift()
    available -= length
    consumed += length
    return front.subarray(0, length)
  }

  return {
    push(piece) {
      if (piece.length === 0) return
      if (consumed + available + piece.length > maxBytes)
        throw new BlockError('BLOCK_BODY_TOO_LARGE', `The input is longer than ${maxBytes} bytes`)
      pieces.push(piece)
      available += piece.length
      while (!step.done && available >= step.value) step = grammar.next(take(step.value))
      if (step.done && available > 0) throw malformed(`more bytes after the end, from byte ${consumed} on`)
    },

    end() {
      if (!step.done) throw malformed(`truncated after ${consumed + available} bytes`)
      return step.value
    },
  }
}

/**
 * A feed that also keeps the input.
 *
 * @param finish makes the result of all bytes and of what the feed has parsed
 */
export function keepingFeed<Parsed, Result>(
  feed: Feed<Parsed>,
  finish: (bytes: Uint8Array, parsed: Parsed) => Result,
): Feed<Result> {
  let pieces: Uint8Array[] = []
  let length = 0
  return {
    push(piece) {
      feed.push(piece)
      pieces.push(piece)
      length += piece.length
    },

    end() {
      const parsed = feed.end()
      const bytes = join(pieces, length)
      pieces = []
      return finish(bytes, parsed)
    },
  }
}

/** A loop, because `concatBytes` spreads its arguments, and a response may come in many pieces. */
function join(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let position = 0
  for (const piece of pieces) {
    whole.set(piece, position)
    position += piece.length
  }
  return whole
}

const majorTypes = { unsigned: 0, bytes: 2, array: 4 } as const

/** Exactly these bytes. */
export function* expectBytes(expected: Uint8Array): Grammar<void> {
  if (compareBytes(yield expected.length, expected) !== 0) throw malformed('unexpected bytes')
}

/** A definite-length byte string of at most `maxBytes`. */
export function* byteString(maxBytes: number): Grammar<Uint8Array> {
  return yield yield* argument('bytes', maxBytes)
}

/** An unsigned integer up to 2^53 − 1. */
export function unsigned(max = Number.MAX_SAFE_INTEGER): Grammar<number> {
  return argument('unsigned', max)
}

/** The head of a definite-length array of at most `max` items. Returns the number of items. */
export function arrayHead(max: number): Grammar<number> {
  return argument('array', max)
}

/** A head in its shortest form. Returns its argument. */
function* argument(type: keyof typeof majorTypes, max: number): Grammar<number> {
  const [initial = 0] = yield 1
  const major = majorTypes[type]
  if (initial >> 5 !== major) throw malformed(`major type ${initial >> 5} instead of ${major}`)
  const info = initial & 0x1f
  if (info > 27) throw malformed('an indefinite length')
  let value = info
  if (info >= 24) {
    const width = 1 << (info - 24)
    value = 0
    for (const byte of yield width) value = value * 256 + byte
    if (value < (width === 1 ? 24 : 2 ** (4 * width))) throw malformed('a number not in its shortest form')
  }
  if (value > max)
    throw new BlockError('BLOCK_BODY_TOO_LARGE', `A length or number is ${value}, the limit is ${max}`)
  return value
}

/** @param fault completes the sentence "The input is malformed: …" */
export const malformed = (fault: string): BlockError =>
  new BlockError('BLOCK_BODY_MALFORMED', `The input is malformed: ${fault}`)
