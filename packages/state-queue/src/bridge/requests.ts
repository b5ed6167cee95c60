import {
  hexParameter,
  type InvalidParameterError,
  onlyParameters,
  type Query,
  type QueryValue,
} from '@ratatosk/http'
import { parameterReader } from '../list-parameters.js'
import { depositStates, withdrawalStates } from './answers.js'
import type {
  DepositRequest,
  DepositsPart,
  DraftWallet,
  ListPart,
  PayoutDraftRequest,
  PayoutRequest,
  RequestedDatum,
  WithdrawalsPart,
} from './ports.js'

/** Characters of an address that is read. */
const maxAddressLength = 200
/** Characters of a value that an answer repeats. */
const maxShown = 200

const reader = parameterReader('BRIDGE')

/** The 400 that names a parameter, or a field of a body. */
function invalid(name: string, value: QueryValue, rule: string): InvalidParameterError {
  const isLong = typeof value === 'string' && value.length > maxShown
  return reader.invalid(name, isLong ? `${value.slice(0, maxShown)}…` : value, rule)
}

/** @throws InvalidParameterError */
export function readNothing(query: Query): Record<string, never> {
  onlyParameters('BRIDGE', query, [])
  return {}
}

/** @throws InvalidParameterError */
export function readDepositsPart(query: Query): DepositsPart {
  onlyParameters('BRIDGE', query, ['id', 'outref', 'address', 'state', 'limit', 'offset'])
  const { id, outref, address, state } = query
  return {
    ...(id !== undefined && { id: readId(id) }),
    ...(outref !== undefined && { outref: readOutref('outref', outref) }),
    ...(address !== undefined && { address: readAddress(address) }),
    ...(state !== undefined && { state: reader.state(depositStates, state) }),
    ...listPart(query),
  }
}

/** @throws InvalidParameterError */
export function readWithdrawalsPart(query: Query): WithdrawalsPart {
  onlyParameters('BRIDGE', query, ['outref', 'address', 'header_hash', 'state', 'limit', 'offset'])
  const { outref, address, header_hash: headerHash, state } = query
  return {
    ...(outref !== undefined && { outref: readOutref('outref', outref) }),
    ...(address !== undefined && { address: readAddress(address) }),
    ...(headerHash !== undefined && { headerHash: readHash('header_hash', headerHash) }),
    ...(state !== undefined && { state: reader.state(withdrawalStates, state) }),
    ...listPart(query),
  }
}

const listPart = ({ limit, offset }: Query): ListPart => ({
  limit: reader.limit(limit),
  offset: reader.offset(offset),
})

function readId(value: QueryValue): Uint8Array {
  const id = hexParameter(value, 32)
  if (id === undefined) throw invalid('deposit id', value, 'Send 64 hex digits')
  return id
}

const readHash = (name: string, value: QueryValue): Uint8Array => reader.headerHash(name, value)

/** In lower case. */
function readOutref(name: string, value: QueryValue): string {
  const match = typeof value === 'string' ? /^[0-9a-f]{64}#(0|[1-9][0-9]{0,4})$/i.exec(value) : null
  if (match === null || Number(match[1]) > 65_535)
    throw invalid(name, value, 'Send <64 hex digits>#<index>, with # as %23 in a query')
  return match[0].toLowerCase()
}

function readAddress(value: QueryValue): string {
  if (typeof value === 'string' && value !== '' && value.length <= maxAddressLength) return value
  throw invalid('address', value, addressRule)
}

const addressRule = 'Send a bech32 address of the network'

/** The 400 for an address that names no one on this network. */
export const invalidAddress = (value: string | undefined): InvalidParameterError =>
  invalid('address', value, addressRule)

/** Kinds of drafts that there are. */
export const draftKinds = ['deposit', 'payout'] as const
/** The most outputs of a wallet that are taken: coin selection scans them. */
export const maxUtxos = 500
/** Withdrawals of one draft: no transaction has room for more. */
export const maxOutrefs = 36
/** Tokens of one deposit; the events' script allows 100 policies and assets. */
const maxAssets = 200
export const maxPayouts = 10_000
/** A transaction of layer 1 has 16,384 bytes. */
const maxTransactionBytes = 16_384
const maxUtxoBytes = 16_384
const mostLovelace = 45_000_000_000_000_000n

type Fields = Readonly<Record<string, unknown>>

/** The body of `POST /bridge/draft`. */
export type DraftBody =
  | ({ readonly kind: 'deposit' } & DepositRequest)
  | ({ readonly kind: 'payout' } & PayoutDraftRequest)

/** @throws InvalidParameterError */
export function readDraftBody(body: unknown): DraftBody {
  const fields = fieldsOf(body)
  const { kind } = fields
  if (kind === 'deposit') {
    onlyFields(fields, ['kind', 'utxos', 'changeAddress', 'to', 'lovelace', 'assets', 'datum'])
    const datum = readDatum(fields.datum)
    return {
      kind,
      ...readWallet(fields),
      to: readText('to', fields.to),
      lovelace: readAmount('lovelace', fields.lovelace),
      assets: readAssets(fields.assets),
      ...(datum && { datum }),
    }
  }
  if (kind === 'payout') {
    onlyFields(fields, ['kind', 'utxos', 'changeAddress', 'outrefs'])
    return { kind, ...readWallet(fields), outrefs: readOutrefs(fields.outrefs) }
  }
  throw wrong('kind', kind, `Send one of ${draftKinds.join(', ')}`)
}

/** The CBOR of `POST /bridge/submit`. @throws InvalidParameterError */
export function readSubmitBody(body: unknown): { readonly transaction: Uint8Array } {
  const fields = fieldsOf(body)
  onlyFields(fields, ['transaction'])
  const rule = `Send CBOR in hex, at most ${maxTransactionBytes} bytes`
  return { transaction: readHex('transaction', fields.transaction, maxTransactionBytes, rule) }
}

/** @throws InvalidParameterError */
export function readPayoutBody(body: unknown): PayoutRequest {
  if (body === undefined || body === null) return {}
  const fields = fieldsOf(body)
  onlyFields(fields, ['headerHash', 'limit'])
  const { headerHash, limit } = fields
  const isWithin = typeof limit === 'number' && Number.isInteger(limit) && limit >= 1 && limit <= maxPayouts
  if (limit !== undefined && !isWithin)
    throw wrong('limit', limit, `Send a whole number from 1 to ${maxPayouts}`)
  return {
    ...(headerHash !== undefined && { headerHash: readHash('headerHash', textOf(headerHash)) }),
    ...(isWithin && { limit }),
  }
}

function fieldsOf(body: unknown): Fields {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Fields
  throw invalid('body', Array.isArray(body) ? 'list' : typeof body, 'Send a JSON object')
}

function onlyFields(fields: Fields, names: readonly string[]): void {
  for (const name of Object.keys(fields))
    if (!names.includes(name)) throw invalid('field', name, `Send only ${names.join(', ')}`)
}

function readWallet({ utxos, changeAddress }: Fields): DraftWallet {
  if (!Array.isArray(utxos) || utxos.length === 0 || utxos.length > maxUtxos)
    throw wrong('utxos', utxos, `Send a list of 1 to ${maxUtxos} outputs, as getUtxos of CIP-30 answers them`)
  const rule = 'Send the outputs as getUtxos of CIP-30 answers them'
  return {
    utxos: utxos.map((each: unknown) => readHex('utxos', each, maxUtxoBytes, rule)),
    changeAddress: readText('changeAddress', changeAddress),
  }
}

function readText(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && value.length <= 200) return value
  throw wrong(name, value, 'Send an address')
}

function readHex(name: string, value: unknown, maxBytes: number, rule: string): Uint8Array {
  const text = typeof value === 'string' ? value : ''
  const isRead = text.length % 2 === 0 && text.length <= 2 * maxBytes
  const bytes = isRead ? hexParameter(text, text.length / 2) : undefined
  if (bytes === undefined) throw wrong(name, value, rule)
  return bytes
}

function readAmount(name: string, value: unknown): bigint {
  const text = typeof value === 'string' && /^[1-9][0-9]{0,18}$/.test(value) ? value : undefined
  if (text === undefined || (name === 'lovelace' && BigInt(text) > mostLovelace))
    throw wrong(name, value, 'Send a positive amount as decimal digits in a string')
  return BigInt(text)
}

function readAssets(value: unknown): ReadonlyMap<string, bigint> {
  if (value === undefined) return new Map()
  const rule = 'Send amounts by unit: policy id and asset name in hex, joined'
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong('assets', value, rule)
  const entries = Object.entries(value)
  if (entries.length > maxAssets)
    throw invalid('assets', `${entries.length} units`, 'A deposit has at most 100 policies and assets')
  return new Map(
    entries.map(([unit, amount]) => {
      if (!/^[0-9a-f]{56}([0-9a-f]{2}){0,32}$/i.test(unit)) throw invalid('assets', unit, rule)
      return [unit.toLowerCase(), readAmount(`assets.${unit}`, amount)]
    }),
  )
}

function readDatum(value: unknown): RequestedDatum | undefined {
  if (value === undefined) return undefined
  const rule = 'Send { "inline": <CBOR in hex> } or { "hash": <64 hex digits> }'
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong('datum', value, rule)
  const entries: [string, unknown][] = Object.entries(value)
  const [entry] = entries
  if (entry === undefined || entries.length > 1) throw wrong('datum', value, rule)
  const [kind, content] = entry
  if (kind === 'hash') {
    const hash = hexParameter(textOf(content), 32)
    if (hash !== undefined) return { kind, hash }
  }
  if (kind === 'inline') return { kind, data: readHex('datum', content, maxTransactionBytes, rule) }
  throw wrong('datum', value, rule)
}

function readOutrefs(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > maxOutrefs)
    throw wrong('outrefs', value, `Send a list of 1 to ${maxOutrefs} withdrawals of one block`)
  const outrefs = value.map((each: unknown) => readOutref('outrefs', textOf(each)))
  const [twice] = outrefs.filter((outref, place) => outrefs.indexOf(outref) !== place)
  if (twice !== undefined) throw invalid('outrefs', twice, 'Send each once')
  return outrefs
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : shownOf(value))

/** A value of JSON in a message, in short. */
const shownOf = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 100)

const wrong = (name: string, value: unknown, rule: string): InvalidParameterError =>
  invalid(name, textOf(value), rule)
