import { toHex } from '@ratatosk/cbor'
import {
  decimalParameter,
  HttpError,
  hexParameter,
  InvalidParameterError,
  type Query,
  type QueryValue,
} from '@ratatosk/http'

/** The longest list of an answer. */
export const maxBlocks = 100
export const maxTransactions = 500
export const maxMinutes = 60
/** The longest text that is searched, in characters. */
export const maxSearch = 200

/** A block of a request; `text` names it in a 404. */
export interface RequestedBlock {
  /** Header hash of 28 bytes, or height. */
  readonly id: Uint8Array | bigint
  readonly text: string
}

export interface OutputId {
  /** 32 bytes. */
  readonly transactionId: Uint8Array
  readonly index: number
}

/** Parts of lists, as handlers receive them. */
export interface BlocksPart {
  readonly before: bigint | undefined
  readonly limit: number
}
export interface TransactionsPart {
  readonly offset: number
  readonly limit: number
}

function invalid(what: string, value: QueryValue, rule: string): InvalidParameterError {
  return new InvalidParameterError('EXPLORER', what, value, rule)
}

/** Without it, a misspelt parameter would be ignored. @throws HttpError */
export function refuseUnknown(query: Query, known: readonly string[]): void {
  const unknown = Object.keys(query).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const message = `Unknown parameter: ${unknown}. Send any of ${known.join(', ')}`
  throw new HttpError(400, 'EXPLORER_INVALID_PARAMETER', message)
}

/** A whole number within bounds. @throws InvalidParameterError */
function within(name: string, value: QueryValue, low: number, high: number, byDefault: number): number {
  if (value === undefined) return byDefault
  const number = decimalParameter(value)
  if (number === undefined || number < low || number > high)
    throw invalid(name, value, `Send a whole number from ${low} to ${high}`)
  return number
}

export const readRates = ({ minutes }: Query): { readonly minutes: number } => ({
  minutes: within('minutes', minutes, 1, maxMinutes, maxMinutes),
})

export function readBlocksPart({ before, limit }: Query): BlocksPart {
  const height = within('before', before, 1, Number.MAX_SAFE_INTEGER, 0)
  return {
    before: before === undefined ? undefined : BigInt(height),
    limit: within('limit', limit, 1, maxBlocks, 20),
  }
}

export const readTransactionsPart = ({ offset, limit }: Query): TransactionsPart => ({
  offset: within('offset', offset, 0, 10_000_000, 0),
  limit: within('limit', limit, 1, maxTransactions, 100),
})

/** 56 hex digits are a header hash, even if all are decimal; fewer decimal digits are a height. */
export function readRequestedBlock({ id }: Query): RequestedBlock {
  const headerHash = hexParameter(id, 28)
  if (headerHash !== undefined) return { id: headerHash, text: `Block ${toHex(headerHash)}` }
  const height = decimalParameter(id)
  if (height === undefined || !Number.isSafeInteger(height))
    throw invalid('block', id, 'Send a header hash of 56 hex digits, or a height')
  return { id: BigInt(height), text: `Block ${height}` }
}

export function readTransactionId({ hash }: Query): { readonly hash: Uint8Array } {
  const id = hexParameter(hash, 32)
  if (id === undefined) throw invalid('transaction hash', hash, 'Send 64 hex digits')
  return { hash: id }
}

/** A reference `<transaction hash>#<index>`, or undefined. */
export function outputId(text: QueryValue): OutputId | undefined {
  if (typeof text !== 'string') return undefined
  const [, hash, digits] = /^([0-9a-fA-F]{64})#(0|[1-9][0-9]{0,4})$/.exec(text) ?? []
  const transactionId = hexParameter(hash, 32)
  return transactionId === undefined || Number(digits) > 0xffff
    ? undefined
    : { transactionId, index: Number(digits) }
}

export function readOutputId({ ref }: Query): { readonly ref: OutputId } {
  const found = outputId(ref)
  if (found === undefined)
    throw invalid('output reference', ref, 'Send <transaction hash>#<index>, with # as %23')
  return { ref: found }
}

export function readSearch({ q }: Query): { readonly text: string } {
  const text = typeof q === 'string' ? q.trim() : ''
  // U+0000 cannot be part of a text in PostgreSQL.
  if (text === '' || text.length > maxSearch || text.includes('\0'))
    throw invalid('search', q, `Send q with 1 to ${maxSearch} characters`)
  return { text: canonical(text) }
}

/** The same for all spellings of a hash, an asset, an output or a height, so that they share an answer. */
function canonical(text: string): string {
  if (/^[0-9]{1,15}$/.test(text)) return String(Number(text))
  return /^[0-9a-fA-F]+(#[0-9]+)?$/.test(text) ? text.toLowerCase() : text
}
