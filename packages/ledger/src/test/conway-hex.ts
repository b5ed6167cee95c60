import { concatBytes, fromHex } from '@ratatosk/cbor'
import { encodeFields } from '@ratatosk/fixtures'
import { expect } from 'vitest'
import { decodeTransaction, decodeTransactionBody } from '../transaction/decode.js'
import type { Transaction, TransactionBody } from '../transaction/types.js'

// Items of a transaction in hex, to be concatenated in tests of the decoder.
const filled = (fill: number, size: number): string => fill.toString(16).padStart(2, '0').repeat(size)
export const hash28 = (fill: number): string => `581c${filled(fill, 28)}`
export const hash32 = (fill: number): string => `5820${filled(fill, 32)}`
export const input = (fill: number, index = '00'): string => `82${hash32(fill)}${index}`
export const keyAddress = `581d60${filled(0xaa, 28)}`
export const account = (fill: number): string => `581de0${filled(fill, 28)}`
export const key = (fill: number): string => `8200${hash28(fill)}`
export const script = (fill: number): string => `8201${hash28(fill)}`
export const anchor = `826161${hash32(9)}`
export const half = 'd81e820102'

/** A body with the required fields, and the given ones in addition or instead; undefined removes a field. */
export function body(fields: { readonly [key: number]: string | undefined } = {}): Uint8Array {
  const all = { 0: `81${input(1)}`, 1: `8182${keyAddress}01`, 2: '02', ...fields }
  const encoded = new Map<number, Uint8Array>()
  for (const [number, hex] of Object.entries(all))
    if (hex !== undefined) encoded.set(Number(number), fromHex(hex))
  return encodeFields(encoded)
}

export function transaction(
  parts: { body?: Uint8Array; witnesses?: string; isValid?: string; auxiliaryData?: string } = {},
): Uint8Array {
  const { witnesses = 'a0', isValid = 'f5', auxiliaryData = 'f6' } = parts
  return concatBytes(fromHex('84'), parts.body ?? body(), fromHex(witnesses + isValid + auxiliaryData))
}

// Functions that decode one part.
export const inBody = (fields: { readonly [key: number]: string | undefined }) => (): TransactionBody =>
  decodeTransactionBody(body(fields))
export const inWitnesses = (witnesses: string) => (): Transaction =>
  decodeTransaction(transaction({ witnesses }))
export const inAuxiliaryData = (auxiliaryData: string) => (): Transaction =>
  decodeTransaction(transaction({ auxiliaryData }))

/** The argument of `toThrow` for a decoding error. */
export function failure(code: string, path?: string): unknown {
  return expect.objectContaining({ code, ...(path === undefined ? {} : { path }) })
}
