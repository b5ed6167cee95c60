import { fromHex, isDecodeError } from '@ratatosk/cbor'
import {
  type AddressNetwork,
  BusyError,
  HttpError,
  hasCode,
  hexParameter,
  InvalidParameterError,
  networkIds,
  type Query,
  type QueryValue,
} from '@ratatosk/http'
import { type Address, decodeBech32Address } from '@ratatosk/ledger'
import type { EventFilter, EventPosition, LedgerEvent } from '@ratatosk/ports'
import { parsePosition } from './position.js'
import { EventsParameters, eventTypes } from './schemas.js'

/** 400: more than one of the filters `tx_hash`, `address` and `block`. */
export class TooManyFiltersError extends HttpError {
  constructor() {
    super(400, 'EVENTS_TOO_MANY_FILTERS', 'Send at most one of tx_hash, address and block')
  }
}

/** 400: a parameter that does not exist. Without this check, a misspelt filter would match everything. */
export class UnknownParameterError extends HttpError {
  constructor(name: string, known: readonly string[]) {
    super(400, 'EVENTS_UNKNOWN_PARAMETER', `Unknown parameter: ${name}. Send any of ${known.join(', ')}`)
  }
}

/** 503: as many clients as allowed read events. */
export class TooManyClientsError extends BusyError {
  constructor() {
    super('EVENTS_TOO_MANY_CLIENTS', 'Too many clients read events: retry later', 5)
  }
}

/** Why a stream was refused. */
export type EventsErrorCode =
  | 'EVENTS_INVALID_PARAMETER'
  | 'EVENTS_TOO_MANY_FILTERS'
  | 'EVENTS_UNKNOWN_PARAMETER'
  | 'EVENTS_TOO_MANY_CLIENTS'

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isEventsError(value: unknown): value is HttpError & { readonly code: EventsErrorCode } {
  return hasCode(value, 'EVENTS_')
}

/** The most transactions that one stream follows. */
const maxTransactions = 50

const positionRule = 'Send the id of an event, such as 120.7.33, or 0.0.0 for all events'

export interface EventsQuery {
  readonly filter: EventFilter
  /** The same for the same filter. */
  readonly filterKey: string
  readonly after: EventPosition | undefined
}

function invalid(what: string, value: QueryValue, rule: string): InvalidParameterError {
  return new InvalidParameterError('EVENTS', what, value, rule)
}

const parameters = Object.keys(EventsParameters.properties)

/**
 * A reader of the query of `GET /events`. It throws {@link InvalidParameterError},
 * {@link TooManyFiltersError} and {@link UnknownParameterError}.
 */
export function queryReader(network: AddressNetwork): (query: Query) => EventsQuery {
  return (query) => {
    const unknown = Object.keys(query).find((name) => !parameters.includes(name))
    if (unknown !== undefined) throw new UnknownParameterError(unknown, parameters)
    const { type, tx_hash, address, block, after } = query
    if ([tx_hash, address, block].filter((value) => value !== undefined).length > 1) {
      throw new TooManyFiltersError()
    }
    const filter = {
      ...(type !== undefined && { types: readTypes(type) }),
      ...(tx_hash !== undefined && { transactions: readHashes(tx_hash) }),
      ...(address !== undefined && { address: readAddress(address, network) }),
      ...(block !== undefined && { headerHash: readHeaderHash(block) }),
    }
    return {
      filter,
      filterKey: [type, tx_hash, address, block].join(' '),
      after: after === undefined ? undefined : readPosition('after', after),
    }
  }
}

/** Reads the header `Last-Event-ID`. `EventSource` sends none until it has received an id. */
export function readLastEventId(header: QueryValue): EventPosition | undefined {
  return header === undefined || header === '' ? undefined : readPosition('Last-Event-ID', header)
}

function readPosition(name: string, value: QueryValue): EventPosition {
  const position = typeof value === 'string' ? parsePosition(value) : undefined
  if (position === undefined) throw invalid(name, value, positionRule)
  return position
}

function readTypes(value: QueryValue): LedgerEvent['type'][] {
  const types = typeof value === 'string' ? [...new Set(value.split(','))] : []
  const known = eventTypes.filter((type) => types.includes(type))
  if (known.length === 0 || known.length < types.length) {
    throw invalid('type', value, `Send any of ${eventTypes.join(', ')}, separated by commas`)
  }
  return known
}

function readHashes(value: QueryValue): Uint8Array[] {
  const hashes = typeof value === 'string' ? [...new Set(value.toLowerCase().split(','))] : []
  if (
    hashes.length > maxTransactions ||
    !hashes.every((hash) => /^[0-9a-f]{64}$/.test(hash)) ||
    hashes.length === 0
  ) {
    const rule = `Send up to ${maxTransactions} hashes of 64 hex digits, separated by commas`
    throw invalid('transaction hash', value, rule)
  }
  return hashes.map(fromHex)
}

function readHeaderHash(value: QueryValue): Uint8Array {
  const hash = hexParameter(value, 28)
  if (!hash) throw invalid('block', value, 'Send a header hash of 56 hex digits')
  return hash
}

function readAddress(value: QueryValue, network: AddressNetwork): Uint8Array {
  const address = typeof value === 'string' ? decode(value) : undefined
  if (address === undefined || !('payment' in address) || address.networkId !== networkIds[network]) {
    throw invalid('address', value, 'Send a bech32 payment address of this network')
  }
  return address.bytes
}

function decode(value: string): Address | undefined {
  try {
    return decodeBech32Address(value)
  } catch (error) {
    if (isDecodeError(error)) return undefined
    throw error
  }
}
