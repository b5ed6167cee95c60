import {
  hexParameter,
  type InvalidParameterError,
  onlyParameters,
  type Query,
  type QueryValue,
} from '@ratatosk/http'
import { parameterReader } from '../list-parameters.js'
import { depositStates, withdrawalStates } from './answers.js'
import type { DepositsPart, ListPart, WithdrawalsPart } from './ports.js'

/** Characters of an address that is read. */
const maxAddressLength = 200
/** Characters of a value that an answer repeats. */
const maxShown = 200

const reader = parameterReader('BRIDGE')

/** The 400 that names a parameter, or a field of a body. */
export function invalid(name: string, value: QueryValue, rule: string): InvalidParameterError {
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

export const readHash = (name: string, value: QueryValue): Uint8Array => reader.headerHash(name, value)

/** In lower case. */
export function readOutref(name: string, value: QueryValue): string {
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
