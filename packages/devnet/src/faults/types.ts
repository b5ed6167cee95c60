/** The ways by which a devnet is reached. */
export type Face = 'blockfrost' | 'kupo' | 'ogmios' | 'client'

/** What is asked of a devnet, by the same names at every face. */
export type Operation =
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
 * What goes wrong.
 *
 * - `time-out`: no answer comes; the connection stays open until its other side gives up or the server closes.
 * - `refusal`: the connection is broken off without an answer.
 * - `rate-limit`: 429 with an error body; over a WebSocket, a JSON-RPC error.
 * - `failure`: 500 likewise.
 * - `garbage`: 200, and a body that is neither JSON nor CBOR.
 * - `delay`: the right answer, `delayMs` later.
 * - `lost-answer`: the request takes its effect, and then the connection is broken off.
 */
export type FaultKind =
  | 'time-out'
  | 'refusal'
  | 'rate-limit'
  | 'failure'
  | 'garbage'
  | 'delay'
  | 'lost-answer'

export interface Fault {
  readonly kind: FaultKind
  /** Only at this face; default: at every one. */
  readonly face?: Face
  /** Only for this operation; default: for every one. */
  readonly operation?: Operation
  /** How often; default 1. `Infinity`: until it is cleared. */
  readonly times?: number
  /** Of `delay`, in milliseconds; default 1000. */
  readonly delayMs?: number
  /** How many matching requests pass untouched before; default 0. */
  readonly after?: number
}

export interface Faults {
  /**
   * Lets something go wrong from the next request on. Of several faults that match, the first injected comes first.
   *
   * @returns takes the fault away again
   */
  inject(fault: Fault): () => void
  clear(): void
  /** The fault that a request meets, which is counted as met. */
  meet(face: Face, operation: Operation): Fault | undefined
}
