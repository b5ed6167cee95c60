import type { Log } from '@ratatosk/ports'

/** A transaction of the mempool. */
export interface MempoolTransaction {
  /** Its position in the order of acceptance, from 1. */
  readonly sequence: bigint
  /** 32 bytes. */
  readonly id: Uint8Array
  readonly cbor: Uint8Array
}

/** Accepted transactions that are in no block: `store.blocks` of `@ratatosk/store`. */
export interface Mempool {
  /**
   * The oldest ones in order of acceptance: at most `limit`, and as many as have at most `maxBytes` of CBOR
   * together, but always one.
   *
   * @param after a sequence: those after it only
   */
  oldest(limit: number, maxBytes: number, after: bigint): Promise<readonly MempoolTransaction[]>
}

export interface ForwarderOptions {
  readonly mempool: Mempool
  /** Base URLs of nodes, such as `http://node:3000`. */
  readonly peers: readonly string[]
  /** Whether to forward now: not while the own operator is in turn, nor in a process that stands by. */
  isNeeded(): boolean | Promise<boolean>
  readonly log: Log
  /** Milliseconds between two reads of the mempool. @defaultValue 200 */
  readonly pollMs?: number
  /** Maximum number of concurrent requests to a peer. @defaultValue 32 */
  readonly concurrency?: number
  /**
   * Milliseconds until a peer is asked again for a transaction; doubles each time, up to 5 minutes.
   * @defaultValue 10000
   */
  readonly repeatMs?: number
  /** Milliseconds of a peer's first backoff; doubles with each failure, up to 30 s. @defaultValue 1000 */
  readonly backoffMs?: number
  /** Milliseconds that a request may take. @defaultValue 10000 */
  readonly timeoutMs?: number
}

/**
 * How offering a transaction to a peer ended: `delivered`: it is in the peer's queue; `known`: the peer had
 * accepted it; `refused`: the peer answered that it is no transaction for it; `failed`: no such answer.
 */
export type ForwardOutcome = 'delivered' | 'known' | 'refused' | 'failed'

export interface Forwarder {
  /** Outcomes so far, of all peers. */
  counts(): Readonly<Record<ForwardOutcome, number>>
  /** Ends running requests. Safe to call twice. */
  close(): Promise<void>
}
