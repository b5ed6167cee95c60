import { fromHex, isDecodeError } from '@ratatosk/cbor'
import { type Address, decodeAddress } from '@ratatosk/ledger'
import { readAddressText } from './view/address-text.js'

/**
 * The most bytes of an Ogmios request and of an evaluation: a transaction in hex with the outputs that it
 * needs, which may hold 204,800 bytes of reference scripts.
 */
export const maxRequestLength = 512 * 1024

/** The most levels of arrays and objects in an Ogmios request. Answers repeat its `id`. */
export const maxRequestDepth = 32

// The most entries of the lists of one Ogmios request. Each entry but a reference costs a query.
export const maxPoints = 100
export const maxAddresses = 100
export const maxCredentials = 100
export const maxReferences = 1000

/** A part of a request is not valid. The message says which one, and what it must be. */
export class InvalidInputError extends Error {
  override readonly name = 'InvalidInputError'
}

export type JsonObject = { readonly [key: string]: unknown }

/** True for parsed JSON that is an object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// Readers of parsed JSON. Each throws an InvalidInputError that begins with `what`.

/** An object whose fields have these names only. */
export function readFields(value: unknown, what: string, names: readonly string[]): JsonObject {
  if (!isObject(value)) throw new InvalidInputError(`${what} must be an object.`)
  const unknown = Object.keys(value).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    const expected = names.length === 0 ? 'no fields' : names.map((name) => `"${name}"`).join(', ')
    throw new InvalidInputError(`${what} has an unknown field ${quoted(unknown)}: expected ${expected}.`)
  }
  return value
}

export function readList(value: unknown, what: string, max: number): readonly unknown[] {
  if (!Array.isArray(value)) throw new InvalidInputError(`${what} must be an array.`)
  if (value.length > max) throw new InvalidInputError(`${what} may have at most ${max} entries.`)
  return value
}

export function readText(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new InvalidInputError(`${what} must be a string.`)
  return value
}

/** @returns hex digits in lower case, without `bytes` of any length */
export function readHex(value: unknown, what: string, bytes?: number): string {
  const text = readText(value, what)
  const isHex = text.length % 2 === 0 && /^[0-9a-fA-F]*$/.test(text)
  if (!isHex || (bytes !== undefined && text.length !== 2 * bytes)) {
    const digits = bytes === undefined ? 'an even number of hex digits' : `${2 * bytes} hex digits`
    throw new InvalidInputError(`${what} must be ${digits}, not ${quoted(text)}.`)
  }
  return text.toLowerCase()
}

const maxUint64 = 2n ** 64n - 1n

/** A number without sign and fraction. */
export function readInteger(value: unknown, what: string, max = maxUint64): bigint {
  const integer = typeof value === 'bigint' || Number.isSafeInteger(value) ? BigInt(value as number) : -1n
  if (integer < 0n || integer > max)
    throw new InvalidInputError(`${what} must be an integer from 0 to ${max}.`)
  return integer
}

/** An integer as a number, or as a string of decimal digits. */
export function readQuantity(value: unknown, what: string): bigint {
  const isDigits = typeof value === 'string' && /^(?:0|[1-9]\d{0,19})$/.test(value)
  return readInteger(isDigits ? BigInt(value) : value, what)
}

/** An address that can hold outputs, in bech32, base58 or hex. */
export function readAddress(value: unknown, what: string): Address {
  const text = readText(value, what)
  let address: Address
  try {
    address = /^(?:[0-9a-fA-F]{2})+$/.test(text) ? decodeAddress(fromHex(text)) : readAddressText(text)
  } catch (error) {
    if (isDecodeError(error)) throw new InvalidInputError(`${what} is not an address: ${error.message}`)
    throw error
  }
  if (address.kind === 'reward') throw new InvalidInputError(`${what} is the address of a reward account.`)
  return address
}

/** Text of a client for a message: short, and without control characters. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}

/** A block hash in a request: 64 hex digits, or the 56 of a layer-2 header hash, before four zero bytes. */
export function readBlockHash(text: string): string {
  const hash = text.toLowerCase()
  return hash.length === 56 ? `${hash}00000000` : hash
}
