import { decimalParameter, hexParameter, type Query } from '@ratatosk/http'
import { type Network, readAddress } from './address.js'
import { InvalidParameterError } from './errors.js'
import type { Page } from './ledger-view.js'

export const defaultLimit = 100
export const maxLimit = 500

/** What `GET /tx` asks for. */
export interface TransactionQuery {
  /** 32 bytes. */
  readonly hash: Uint8Array
}

/** What `GET /block` asks for. */
export interface BlockQuery {
  /** 28 bytes. */
  readonly headerHash: Uint8Array
}

/** What `GET /utxos` asks for. */
export interface AddressQuery {
  readonly address: Uint8Array
}

/** What `GET /txs` asks for. */
export interface HistoryQuery extends AddressQuery, Page {}

export function readTransactionQuery(query: Query): TransactionQuery {
  const hash = hexParameter(query.tx_hash, 32)
  if (!hash) throw new InvalidParameterError('transaction hash', query.tx_hash)
  return { hash }
}

export function readBlockQuery(query: Query): BlockQuery {
  const headerHash = hexParameter(query.header_hash, 28)
  if (!headerHash) throw new InvalidParameterError('block hash', query.header_hash)
  return { headerHash }
}

export function addressQueryReader(network: Network): (query: Query) => AddressQuery {
  return (query) => ({ address: readAddress(query.address, network) })
}

/** Judges the address first, then the limit, then the offset. */
export function historyQueryReader(network: Network): (query: Query) => HistoryQuery {
  return (query) => ({
    address: readAddress(query.address, network),
    limit: readLimit(query),
    offset: readOffset(query),
  })
}

function readLimit({ limit }: Query): number {
  if (limit === undefined) return defaultLimit
  const count = decimalParameter(limit)
  if (count === undefined || count < 1) throw new InvalidParameterError('limit', limit)
  return Math.min(count, maxLimit)
}

function readOffset({ offset }: Query): number {
  if (offset === undefined) return 0
  const count = decimalParameter(offset)
  if (count === undefined || !Number.isSafeInteger(count)) throw new InvalidParameterError('offset', offset)
  return count
}
