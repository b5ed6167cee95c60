import { types } from 'node:util'
import { toHex } from '@ratatosk/cbor'

// A port in JavaScript may return other values. Each check throws a `TypeError` with the port and the field.

const wrong = (field: string, expected: string): TypeError => new TypeError(`${field} must be ${expected}`)

/** @param field such as `queue.find: submittedAt` */
export function timeOf(value: unknown, field: string): string {
  if (types.isDate(value) && !Number.isNaN(value.getTime())) return value.toISOString()
  throw wrong(field, 'a Date')
}

export function hexOf(value: unknown, field: string): string {
  if (types.isUint8Array(value)) return toHex(value)
  throw wrong(field, 'a Uint8Array')
}

export function textOf(value: unknown, field: string): string {
  if (typeof value === 'string') return value
  throw wrong(field, 'a string')
}

export function integerOf(value: unknown, field: string): number {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return Number(value)
  throw wrong(field, 'an integer')
}

export function oneOf<Text extends string>(value: Text, texts: readonly Text[], field: string): Text {
  if (texts.includes(value)) return value
  throw wrong(field, `one of ${texts.join(', ')}`)
}

export function arrayOf<Item>(value: readonly Item[], field: string): readonly Item[] {
  if (Array.isArray(value)) return value
  throw wrong(field, 'an array')
}
