import { isDecodeError } from '@ratatosk/cbor'
import {
  type AddressNetwork,
  decimalParameter,
  hexParameter,
  InvalidParameterError,
  networkIds,
  onlyParameters,
  type Query,
  type QueryValue,
} from '@ratatosk/http'
import { type Address, decodeBech32Address } from '@ratatosk/ledger'
import type { HistoryPage } from './ledger-view.js'

/** @param what name of the parameter in the message */
function invalid(what: string, value: QueryValue): InvalidParameterError {
  return new InvalidParameterError('TX_QUERY', what, value)
}

const defaultLimit = 100
const maxLimit = 500

/** Query of `GET /tx`. */
export interface TransactionQuery {
  /** 32 bytes. */
  readonly hash: Uint8Array
}

/** Query of `GET /block`. */
export interface BlockQuery {
  /** 28 bytes. */
  readonly headerHash: Uint8Array
}

/** Query of `GET /utxos`. */
export interface AddressQuery {
  readonly address: Uint8Array
}

/** Query of `GET /txs`. */
export interface HistoryQuery extends AddressQuery, HistoryPage {}

export function readTransactionQuery(query: Query): TransactionQuery {
  const hash = hexParameter(query.tx_hash, 32)
  if (!hash) throw invalid('transaction hash', query.tx_hash)
  only(query, 'tx_hash')
  return { hash }
}

export function readBlockQuery(query: Query): BlockQuery {
  const headerHash = hexParameter(query.header_hash, 28)
  if (!headerHash) throw invalid('block hash', query.header_hash)
  only(query, 'header_hash')
  return { headerHash }
}

export function addressQueryReader(network: AddressNetwork): (query: Query) => AddressQuery {
  return (query) => {
    const address = readAddress(query.address, network)
    only(query, 'address')
    return { address }
  }
}

/** Checks the address first, then the limit, then the offset. */
export function historyQueryReader(network: AddressNetwork): (query: Query) => HistoryQuery {
  return (query) => {
    const address = readAddress(query.address, network)
    const page = { limit: readLimit(query), offset: readOffset(query) }
    only(query, 'address', 'limit', 'offset')
    return { address, ...page }
  }
}

/** Unknown parameters are judged last: the API document says how the others are answered. */
function only(query: Query, ...names: readonly string[]): void {
  onlyParameters('TX_QUERY', query, names)
}

function readLimit({ limit }: Query): number {
  if (limit === undefined) return defaultLimit
  const count = decimalParameter(limit)
  if (count === undefined || count < 1) throw invalid('limit', limit)
  return Math.min(count, maxLimit)
}

function readOffset({ offset }: Query): number {
  if (offset === undefined) return 0
  const count = decimalParameter(offset)
  if (count === undefined || !Number.isSafeInteger(count)) throw invalid('offset', offset)
  return count
}

/**
 * Reads an address with a payment key credential (CIP-19), bech32 in either case.
 * @throws InvalidParameterError `address type` if no string, `address format` if not bech32 or without the
 *   credential, `address` on another network
 */
function readAddress(value: QueryValue, network: AddressNetwork): Uint8Array {
  if (typeof value !== 'string') throw invalid('address type', value)
  const address = decode(value)
  if (!hasPaymentKey(address)) throw invalid('address format', value)
  if (address.networkId !== networkIds[network]) throw invalid('address', value)
  return address.bytes
}

function decode(value: string): Address {
  try {
    return decodeBech32Address(value)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw invalid(error.code === 'ADDRESS_NOT_BECH32' ? 'address format' : 'address', value)
  }
}

function hasPaymentKey(address: Address): boolean {
  return 'payment' in address && address.payment.kind === 'key'
}
