import type { Archive } from './archive/types.js'
import type { Blocks } from './blocks/types.js'
import type { FaucetClaims } from './faucet/types.js'

/** The output of a transaction, named by the transaction's id (32 bytes) and the output's position (0 … 65535). */
export interface OutputReference {
  readonly transactionId: Uint8Array
  readonly index: number
}

/** What JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** An unspent output as the store keeps it. */
export interface StoredOutput {
  readonly reference: OutputReference
  /** CBOR of the transaction output, as submitted. */
  readonly output: Uint8Array
}

/** An output with what it is found by. */
export interface LedgerEntry extends StoredOutput {
  /** Bytes of the address (CIP-19). */
  readonly address: Uint8Array
  /** Hash of the payment credential, key or script (28 bytes); absent for Byron addresses. */
  readonly paymentCredential?: Uint8Array
}

/** One transaction that validation has accepted, with its effect on the ledger. */
export interface AcceptedTransaction {
  /** Transaction id, 32 bytes. */
  readonly id: Uint8Array
  /** The transaction as submitted. */
  readonly cbor: Uint8Array
  /** Every output that it spends; the store knows their bytes and addresses. */
  readonly spent: readonly OutputReference[]
  /** Every output that it makes. */
  readonly produced: readonly LedgerEntry[]
}

/** Transactions in the order of acceptance; a later one may spend what an earlier one makes. */
export interface Batch {
  readonly transactions: readonly AcceptedTransaction[]
}

/** A submission that validation has given up on: a dead letter. */
export interface NewRejection {
  /** The queue's id of the submission; a second rejection under the same id is ignored. */
  readonly submissionId: string
  /** 32 bytes, where the submission decodes as a transaction. */
  readonly transactionId?: Uint8Array
  readonly cbor: Uint8Array
  /** How often it was tried, at least 1. */
  readonly attempts: number
  /** The first failed predicate, e.g. `FeeTooSmallUTxO`. */
  readonly code: string
  /** One sentence for a person. */
  readonly message: string
  readonly details: Json
  readonly submittedAt: Date
}

export interface Rejection extends NewRejection {
  /** Grows with each rejection: the cursor of {@link Rejections.list}. */
  readonly sequence: bigint
  /** By the database's clock. */
  readonly rejectedAt: Date
}

/** What can be done to dead letters inside and outside of {@link Store.withLedger}. */
export interface RejectionWriter {
  /** Adds dead letters; those whose submission id is there already are left as they are. Returns how many were new. */
  add(rejections: readonly NewRejection[]): Promise<number>
}

export interface Rejections extends RejectionWriter {
  /** Newest first. `before`: the `sequence` of the last one of the page before. `limit`: 1 to 1000, 100 unless told. */
  list(page?: { readonly limit?: number; readonly before?: bigint }): Promise<Rejection[]>
  find(submissionId: string): Promise<Rejection | undefined>
  /** Takes a dead letter out, to be submitted again. False: it was not there, or somebody else has taken it. */
  remove(submissionId: string): Promise<boolean>
}

/** The mempool ledger under its lock. Usable only inside the callback of {@link Store.withLedger}. */
export interface Ledger {
  /** The unspent outputs behind `references`, in their order; `undefined`: unknown or spent. One query. */
  outputs(references: readonly OutputReference[]): Promise<(Uint8Array | undefined)[]>
  /** For each transaction id, in order: was it accepted before, be it in the mempool or in a block? One query. */
  known(ids: readonly Uint8Array[]): Promise<boolean[]>
  /**
   * Writes a batch: transactions, spent and produced outputs, address history. One statement.
   *
   * @throws StoreError `STORE_CONFLICT` where a spent output is not in the ledger or an id is taken,
   *   `STORE_INVALID_ARGUMENT` where the batch spends twice or spends what only a later transaction makes.
   */
  apply(batch: Batch): Promise<void>
  readonly rejections: RejectionWriter
}

/** The right to do a job that only one process may do at a time. */
export interface Lease {
  readonly name: string
  readonly holder: string
  /** Fencing token: greater than that of every lease of this name before. */
  readonly token: bigint
  /** By the database's clock. */
  readonly expiresAt: Date
}

/** Times are judged by the database's clock alone. */
export interface Leases {
  /** Takes the lease if it is free or expired; `undefined`: somebody holds it. `holder` names a process for logs. */
  acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined>
  /** Extends to `ttlMs` from now; `undefined`: it has expired or was taken, and its work must stop. */
  renew(lease: Lease, ttlMs: number): Promise<Lease | undefined>
  /** The lease that is held under this name now; `undefined`: it is free. */
  current(name: string): Promise<Lease | undefined>
  /** Frees the lease at once. False: it was no longer held. */
  release(lease: Lease): Promise<boolean>
}

export interface Page {
  readonly limit: number
  readonly offset: number
}

/** Everything that the node remembers, in PostgreSQL or PGlite. */
export interface Store {
  /** A transaction's CBOR by its id (32 bytes): from the mempool first, then from the blocks, merged ones included. */
  transaction(id: Uint8Array): Promise<Uint8Array | undefined>
  /** The unspent outputs at exactly this address, in the order of their acceptance. */
  utxosAt(address: Uint8Array): Promise<StoredOutput[]>
  /** The unspent outputs at every address with this payment credential (28 bytes), in the order of their acceptance. */
  utxosByPaymentCredential(hash: Uint8Array): Promise<StoredOutput[]>
  /**
   * CBOR of each transaction that spends from or pays to the address, once, oldest first. Commit and merge do not
   * change it; `limit` and `offset` are whole numbers from 0.
   */
  history(address: Uint8Array, page: Page): Promise<Uint8Array[]>
  /** Transaction ids in block order; empty for a block that is unknown, removed or not yet sent to layer 1. */
  blockTransactions(headerHash: Uint8Array): Promise<Uint8Array[]>

  /**
   * Runs `work` in one SQL transaction that holds the ledger's lock: of all processes on one schema one is inside at a
   * time, and either all that it wrote is durable when the promise resolves, or nothing is there when it rejects.
   * Inside, use only the `ledger` given: on PGlite any other call on the same database would wait for ever.
   *
   * A lost connection rejects with `STORE_UNAVAILABLE`; where it was lost during the commit itself the work may have
   * been done. Run it again: {@link Ledger.known} tells.
   *
   * @example
   * await store.withLedger(async (ledger) => {
   *   const [output] = await ledger.outputs([reference])
   *   if (output !== undefined) await ledger.apply({ transactions: [transaction] })
   * })
   */
  withLedger<T>(work: (ledger: Ledger) => Promise<T>): Promise<T>

  /**
   * Puts the first outputs into an empty ledger, once. True: applied now; false: the same outputs, in whatever order,
   * were applied before.
   *
   * @throws StoreError `STORE_GENESIS_MISMATCH` where others were, or where the ledger is in use.
   */
  applyGenesis(outputs: readonly LedgerEntry[]): Promise<boolean>

  readonly rejections: Rejections
  readonly leases: Leases
  readonly blocks: Blocks
  readonly archive: Archive
  readonly faucetClaims: FaucetClaims

  /** Resolves when the database answers; rejects when it does not, or when the signal aborts first. */
  ping(signal?: AbortSignal): Promise<void>
  /** Ends the store's own connections; a PGlite that was handed in stays open. Safe to call twice. */
  close(): Promise<void>
}
