/** Where a fault strikes: one of the HTTP APIs, or `client`, an in-process client. */
export type FaultTarget = 'blockfrost' | 'kupo' | 'ogmios' | 'client'

/** The kinds of request that faults distinguish, named alike for every target. */
export type FaultOperation =
  | 'utxos'
  | 'transaction'
  | 'submit'
  | 'evaluate'
  | 'parameters'
  | 'tip'
  | 'datum'
  | 'script'
  | 'other'

/**
 * The fault of a request.
 *
 * - `time-out`: no response; the connection stays open until the client gives up or the server closes.
 * - `refusal`: the connection is closed without a response.
 * - `rate-limit`: status 429 with an error body; over a WebSocket, a JSON-RPC error.
 * - `failure`: status 500 with an error body; over a WebSocket, a JSON-RPC error.
 * - `garbage`: status 200 with a body that is neither JSON nor CBOR.
 * - `delay`: the correct response, `delayMs` later.
 * - `lost-answer`: the request takes effect, then the connection is closed without a response.
 */
export type FaultKind =
  | 'time-out'
  | 'refusal'
  | 'rate-limit'
  | 'failure'
  | 'garbage'
  | 'delay'
  | 'lost-answer'

/** A fault of one request. */
export interface RequestFault {
  readonly kind: FaultKind
  /** Length of a `delay`, in milliseconds. Default 1000. */
  readonly delayMs?: number
}

/** Decides which requests fail, for tests of clients. */
export interface FaultSource {
  /** The fault that applies to a request, if any. */
  take(target: FaultTarget, operation: FaultOperation): RequestFault | undefined
}
