import type { WritableArchive } from '@ratatosk/block'
import type { SharedDriver } from '@ratatosk/database'
import type { ClaimStore, EventLog, ExplorerReads } from '@ratatosk/ports'
import type { Answers } from './answers/answers.js'
import type { Blocks, DepositPlace } from './blocks/types.js'
import type { Bodies } from './bodies/bodies.js'
import type { Leases } from './leases/leases.js'
import type { Ledger, LedgerEntry, LedgerReads, StoredOutput, UnlockedLedger } from './ledger/ledger.js'
import type { AcceptedPlace, ChainQueries, LedgerChanges } from './queries/chain.js'
import type { Rejections } from './rejections/types.js'
import type { Resubmissions } from './resubmissions/resubmissions.js'
import type { StoreWarning } from './server-settings.js'
import type { Verdicts } from './verdicts/verdicts.js'

/** A part of a list. Both are whole numbers from 0. */
export interface Page {
  /** The most entries to return. */
  readonly limit: number
  /** How many entries to skip. */
  readonly offset: number
}

/** The node's persistent state, in PostgreSQL or PGlite. */
export interface Store {
  /** A transaction's CBOR by its id (32 bytes), from the mempool or from a block. */
  transaction(id: Uint8Array): Promise<Uint8Array | undefined>
  /**
   * Where a transaction (32 bytes) is: in the mempool, or in which block. Undefined if it was never accepted,
   * or was dropped, reset or removed.
   */
  placeOf(id: Uint8Array): Promise<AcceptedPlace | undefined>
  /** {@link placeOf} for each of them, in their order, by one query. */
  placesOf(ids: readonly Uint8Array[]): Promise<readonly (AcceptedPlace | undefined)[]>
  /** Where a deposit or a fee output is, by its id of 32 bytes; undefined if it is not in the ledger. */
  deposit(id: Uint8Array): Promise<DepositPlace | undefined>
  /**
   * The unspent outputs at exactly this address, in order of acceptance, at the time of the first page: later
   * pages do not see what happens meanwhile. Pages have at most 128 outputs and 256 KiB of CBOR. Nothing
   * stays open between two pages, so a slow reader costs nothing. {@link Blocks.forgetSpent} with a time
   * before the first page, {@link Blocks.undo}, {@link Blocks.drop} and {@link Blocks.reset} end that
   * guarantee, and so does a block that credits a deposit at the address, or is removed with one.
   *
   * @example
   * for await (const outputs of store.utxoPages(address)) client.send(outputs)
   */
  utxoPages(address: Uint8Array): AsyncIterable<readonly StoredOutput[]>
  /**
   * CBOR of each transaction that spends from or pays to the address, once, oldest first. Commit and merge do
   * not change it, and new transactions come at its end. Deposits are not in it. Pages
   * have at most 500 transactions and 256 KiB.
   *
   * @param page which part to read: a deep `offset` is skipped in steps of 1,000 index entries, once
   * @throws StoreError `STORE_INVALID_ARGUMENT`
   */
  historyPages(address: Uint8Array, page: Page): AsyncIterable<readonly Uint8Array[]>
  /**
   * Transaction ids in block order, in pages of at most 2,000. None for a block that is unknown, removed or
   * not yet sent to layer 1.
   *
   * @throws StoreError `STORE_CONFLICT` if the block is removed between two pages
   */
  blockTransactionPages(headerHash: Uint8Array): AsyncIterable<readonly Uint8Array[]>

  /**
   * Runs `work` in one SQL transaction that holds the ledger's lock. Only one process per schema is inside at
   * a time. When the promise resolves, everything that `work` wrote is durable; when it rejects, nothing was
   * written. Inside, use only the given `ledger`: on PGlite any other call on the same database waits
   * forever.
   *
   * If the connection is lost during the commit itself, the call rejects with `STORE_UNAVAILABLE` although
   * the work may be done. Run it again: {@link Ledger.known} reports it.
   *
   * @example
   * await store.withLedger(async (ledger) => {
   *   const [output] = await ledger.outputs([reference])
   *   if (output !== undefined) await ledger.apply({ transactions: [transaction] })
   * })
   */
  withLedger<T>(work: (ledger: Ledger) => Promise<T>): Promise<T>

  /**
   * As {@link Store.withLedger}, but other processes wait only once `work` has taken the lock. Earlier reads
   * may be outdated by then, so it must expect `apply` to reject with `STORE_CONFLICT`. Within this process
   * it excludes {@link Store.withLedger} from the beginning.
   *
   * @example
   * await store.withUnlockedLedger(async (unlocked) => {
   *   const [output] = await unlocked.outputs([reference])
   *   if (output === undefined) return
   *   const ledger = await unlocked.lock()
   * await ledger.apply({ transactions: [transaction] }) // rejects if another process has spent the output
   * meanwhile })
   */
  withUnlockedLedger<T>(work: (ledger: UnlockedLedger) => Promise<T>): Promise<T>

  /**
   * Reads of the mempool ledger without its lock: they neither block nor are blocked. Each sees the ledger
   * at its own time, so of two reads the later one may see transactions that the earlier one did not.
   */
  readonly ledger: LedgerReads

  /**
   * Puts the first outputs into an empty ledger, once. True: applied now. False: the same outputs, in any
   * order, were applied before.
   *
   * @throws StoreError `STORE_GENESIS_MISMATCH` if other outputs were applied, or if the ledger is in use
   */
  applyGenesis(outputs: readonly LedgerEntry[]): Promise<boolean>

  /**
   * The id of this ledger, a random UUID that no other has; also after a reset. A copy of the database has
   * the same; `ratatosk restore` gives a restored one another.
   */
  ledgerId(): Promise<string>

  /**
   * The ledger version with which the deployment of this store began, and which it keeps; also after a reset.
   *
   * @param first what a new deployment begins with
   */
  ledgerVersion(first: number): Promise<number>

  /**
   * The rules by which every process on this store judges and reads, as the first one stated them; also after
   * a reset. The store compares and understands nothing of them.
   *
   * @param first what is recorded if nothing is yet
   */
  ledgerRules(first: string): Promise<string>

  /**
   * The queue whose submissions become transactions of this ledger, as the first process named it; also after
   * a reset.
   *
   * @param first what is recorded if nothing is yet
   */
  ledgerQueue(first: string): Promise<string>

  /** The events of transactions and blocks, in order and from any position. */
  readonly events: EventLog
  /** Dead letters. */
  readonly rejections: Rejections
  /** Jobs that one process at a time may do. */
  readonly leases: Leases
  /** The life of blocks. */
  readonly blocks: Blocks
  /** Bodies of blocks that layer 1 may show again. */
  readonly bodies: Bodies
  /** Transactions that the removal of blocks took out of the ledger, on their way back. */
  readonly resubmissions: Resubmissions
  /** The answers to questions of the summons that were sent. */
  readonly answers: Answers
  /** The invalid blocks that a watcher has found, and its transactions. */
  readonly verdicts: Verdicts
  /**
   * The block bodies that an archivist serves: one chain, heights without gaps. A body is read in pieces of
   * 256 KiB, each when it is requested. Refused changes, and bodies that the archive does not have or loses
   * while they are read, reject with `STORE_CONFLICT`.
   */
  readonly archive: WritableArchive
  /** Claims at the faucet and their payments. */
  readonly faucetClaims: ClaimStore

  /** Blocks and transactions as a chain. */
  readonly chain: ChainQueries
  /** Acceptances and their undoing, for followers of acceptance. */
  readonly changes: LedgerChanges
  /** Times and rates of blocks, for people who watch. */
  readonly explorer: ExplorerReads
  /** The same database, for parts that keep tables of their own in another schema. */
  readonly database: SharedDriver

  /**
   * Resolves when the database answers and its last write did not meet a full disk, or another one succeeds.
   * Rejects otherwise, or when the signal aborts first.
   */
  ping(signal?: AbortSignal): Promise<void>
  /** Takes note of a write of another part to the same database that failed, for `ping`. */
  noteFailure(error: unknown): void
  /**
   * Settings of the PostgreSQL server under which the store loses data or speed. None for a PGlite, whose
   * settings are fixed.
   *
   * @example
   * for (const { message } of await store.warnings()) console.warn(message)
   */
  warnings(): Promise<readonly StoreWarning[]>
  /** Waits for running work (up to 5 s), then closes the store's own connections. May be called twice. */
  close(): Promise<void>
}
