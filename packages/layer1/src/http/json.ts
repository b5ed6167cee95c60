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
