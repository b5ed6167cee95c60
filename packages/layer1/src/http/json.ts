import { Layer1Error } from '../errors.js'

export type JsonRecord = { readonly [key: string]: unknown }

/** Matches every string and every number of a JSON text. */
const scalars = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const longInteger = /^-?\d{16,}$/

/** Parses JSON with integers of 16 or more digits as strings: doubles would round. @throws SyntaxError */
export function parseJson(text: string): unknown {
  return JSON.parse(text.replace(scalars, (scalar) => (longInteger.test(scalar) ? `"${scalar}"` : scalar)))
}

export function isObject(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads an answer; a mismatch makes it an `invalid answer`. */
export function reading<T>(provider: string, what: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && error.name === 'Layer1Error') throw error
    throw new Layer1Error('LAYER1_INVALID_ANSWER', `${provider} gave an invalid answer: ${what}`)
  }
}

export function objectOf(value: unknown): JsonRecord {
  if (!isObject(value)) throw new TypeError('not an object')
  return value
}

export function arrayOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError('not an array')
  return value
}

export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('not a string')
  return value
}

/** A string, or undefined for null and undefined. */
export function optionalText(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : textOf(value)
}

/** An integer, written as a number or as a decimal string. */
export function integerOf(value: unknown): bigint {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  if (typeof value === 'string' && /^-?\d{1,40}$/.test(value)) return BigInt(value)
  throw new TypeError('not an integer')
}

/** An integer within the safe range of a number. */
export function countOf(value: unknown): number {
  const count = Number(integerOf(value))
  if (!Number.isSafeInteger(count)) throw new TypeError('not a safe integer')
  return count
}

/** `bytes` bytes in hex, lower case. */
export function hexOf(value: unknown, bytes: number): string {
  const text = textOf(value).toLowerCase()
  if (text.length !== 2 * bytes || !/^[0-9a-f]*$/.test(text)) throw new TypeError('no hash')
  return text
}

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c]
const [openList, openObject, closeList, closeObject] = [0x5b, 0x7b, 0x5d, 0x7d]
const blanks: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d])

/** Reads the items of a JSON array while its bytes arrive. */
interface JsonItems {
  /** The items that end in the next bytes. @throws SyntaxError */
  take(bytes: Uint8Array): unknown[]
  /** @throws SyntaxError if the array has not ended */
  end(): void
}

/** For arrays that are too long to be parsed at once. Integers are read as by {@link parseJson}. */
export function createJsonItems(): JsonItems {
  /** The beginning of an item, from earlier bytes. */
  let begun: Uint8Array[] = []
  let depth = 0
  let inString = false
  let isEscaped = false
  let count = 0
  let hasEnded = false

  function itemOf(rest: Uint8Array, isLast: boolean): unknown[] {
    const text = Buffer.concat([...begun, rest]).toString('utf8')
    begun = []
    if (isLast && count === 0 && text.trim() === '') return []
    count++
    return [parseJson(text)]
  }

  /** Outside the array. @returns whether it begins */
  function begins(byte: number | undefined): boolean {
    if (blanks.has(byte)) return false
    if (byte !== openList || hasEnded) throw new SyntaxError('not an array')
    depth = 1
    return true
  }

  return {
    take(bytes) {
      const items: unknown[] = []
      let start = 0
      for (let at = 0; at < bytes.length; at++) {
        const byte = bytes[at]
        if (inString) {
          if (isEscaped) isEscaped = false
          else if (byte === backslash) isEscaped = true
          else if (byte === quote) inString = false
        } else if (depth === 0) {
          if (begins(byte)) start = at + 1
        } else if (byte === quote) inString = true
        else if (byte === openList || byte === openObject) depth++
        else if (byte === comma && depth === 1) {
          items.push(...itemOf(bytes.subarray(start, at), false))
          start = at + 1
        } else if ((byte === closeList || byte === closeObject) && --depth === 0) {
          items.push(...itemOf(bytes.subarray(start, at), true))
          hasEnded = true
        }
      }
      if (depth > 0) begun.push(bytes.subarray(start))
      return items
    },
    end() {
      if (!hasEnded) throw new SyntaxError('the array has no end')
    },
  }
}
