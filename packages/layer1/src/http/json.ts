import { Layer1Error } from '../errors.js'

export type JsonObject = { readonly [key: string]: unknown }

/** Every string and every number of a JSON text. */
const scalars = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const longInteger = /^-?\d{16,}$/

/**
 * JSON whose integers of 16 digits and more become strings: lovelace and quantities exceed what a double holds, and
 * `JSON.parse` would round them in silence.
 *
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text.replace(scalars, (scalar) => (longInteger.test(scalar) ? `"${scalar}"` : scalar)))
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads an answer; whatever does not fit makes the whole of it an `invalid answer`. */
export function reading<T>(provider: string, what: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && error.name === 'Layer1Error') throw error
    throw new Layer1Error('invalid answer', `${provider} gave an answer that makes no sense: ${what}`)
  }
}

export function objectOf(value: unknown): JsonObject {
  if (!isObject(value)) throw new TypeError('no object')
  return value
}

export function arrayOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError('no array')
  return value
}

export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('no text')
  return value
}

/** A text, or undefined where there is none. */
export function optionalText(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : textOf(value)
}

/** An integer, written as a number or as a decimal string. */
export function integerOf(value: unknown): bigint {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  if (typeof value === 'string' && /^-?\d{1,40}$/.test(value)) return BigInt(value)
  throw new TypeError('no integer')
}

/** An integer that a number holds. */
export function countOf(value: unknown): number {
  const count = Number(integerOf(value))
  if (!Number.isSafeInteger(count)) throw new TypeError('no count')
  return count
}

/** Hex digits of `bytes` bytes, in lower case. */
export function hexOf(value: unknown, bytes: number): string {
  const text = textOf(value).toLowerCase()
  if (text.length !== 2 * bytes || !/^[0-9a-f]*$/.test(text)) throw new TypeError('no hash')
  return text
}
