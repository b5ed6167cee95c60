import type { Deposit } from '@ratatosk/block'
import type { Json, OutputReference } from '@ratatosk/ledger'
import type { BlockCount, BlockState } from '@ratatosk/ports'
import type { Lease } from '../leases/leases.js'
import type { AppliedTransaction, StoredOutput } from '../ledger/ledger.js'

/** A signed layer-1 transaction, stored before it is sent. */
export interface Layer1Transaction {
  /** 32 bytes. */
  readonly id: Uint8Array
  readonly cbor: Uint8Array
}

/** A transaction of the mempool or of a block. */
export interface OrderedTransaction {
  /** Its position in the order of acceptance. */
  readonly sequence: bigint
  /** 32 bytes. */
  readonly id: Uint8Array
  readonly cbor: Uint8Array
}

/** A part of a list of transactions, in order of acceptance or in reverse order. */
export interface SequencePart {
  /** How many transactions to skip. */
  readonly offset: number
  /** The most transactions to return. */
  readonly limit: number
  readonly newestFirst?: boolean
}

/** The fields of a header that the store needs. Times are POSIX milliseconds. */
export interface BlockHeader {
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  /** Plutus data CBOR of the ten fields. */
  readonly header: Uint8Array
  /** 28 bytes. Zeros for the first block. */
  readonly previousHeaderHash: Uint8Array
  /** Root of the ledger after the block, 32 bytes. */
  readonly utxosRoot: Uint8Array
  readonly startTime: bigint
  readonly endTime: bigint
}

/** Why a transaction leaves the mempool; see {@link NewRejection}. */
export interface DropReason {
  /** The name of a predicate, such as `OutsideValidityIntervalUTxO`. */
  readonly code: string
  /** One sentence. */
  readonly message: string
  readonly details: Json
}

/** A deposit of layer 1 that a block credits, or the block's fee output. It is output 0 of its id. */
export interface CreditedDeposit {
  /** 32 bytes. */
  readonly id: Uint8Array
  /** CBOR of the output that it becomes. */
  readonly output: Uint8Array
  /** Bytes of the output's address (CIP-19). */
  readonly address: Uint8Array
}

/** Why a transaction of the mempool must go, after these were dropped; undefined if it may stay. */
export type DropRule = (
  transaction: OrderedTransaction,
  dropped: ReadonlyMap<string, DropReason>,
) => DropReason | undefined

/** A deposit, or a fee output, and a block that has credited it. */
export interface PlacedDeposit extends Deposit {
  readonly headerHash: Uint8Array
}

/** Where a deposit, or a fee output, is. The block credits it; of one that waits, it is the last that did. */
export interface DepositPlace extends Pick<Block, 'headerHash' | 'previousHeaderHash' | 'height'> {
  /** Of that block; `waiting`: that block was removed, and the next one must credit it. */
  readonly state: Exclude<BlockState, 'removed'> | 'waiting'
}

/** A block to append, of the mempool's oldest transactions as {@link Blocks.oldest} returned them. */
export interface NewBlock extends BlockHeader {
  /** Sequence of its first transaction; without transactions, the store gives it one of its own. */
  readonly firstSequence: bigint
  /** Sequence of its last transaction; see `firstSequence`. */
  readonly lastSequence: bigint
  /** How many transactions it has: at least 1, unless it has deposits. */
  readonly transactions: number
  /** All that it credits before its first transaction: deposits that wait, new ones, its fee output. */
  readonly deposits?: readonly CreditedDeposit[]
  readonly commitTransaction: Layer1Transaction
}

/** A block that another operator has committed. */
export interface ForeignBlock extends BlockHeader {
  /** In block order; none in an empty block. */
  readonly transactions: readonly AppliedTransaction[]
  /** The deposits that it credits before its first transaction, and its fee output. */
  readonly deposits?: readonly CreditedDeposit[]
  /** The result of {@link Blocks.inMempool} for these under the same lease: it is not read again. */
  readonly held?: ReadonlyMap<number, bigint>
}

/** A block of the store. */
export interface Block extends BlockHeader {
  /**
   * Sequence of its first transaction; of an empty block, the sequence after `lastSequence`. One with
   * deposits and without transactions has a sequence of its own, which is its first and its last.
   */
  readonly firstSequence: bigint
  /** Sequence of its last transaction; of an empty block, that of the last one before it. */
  readonly lastSequence: bigint
  readonly transactions: number
  /** Absent: another operator has committed it, and this store has adopted it. */
  readonly commitTransaction?: Layer1Transaction
  /** 1 for the first block. */
  readonly height: bigint
  readonly state: BlockState
  readonly mergeTransaction?: Layer1Transaction
  /** By the database's clock. */
  readonly builtAt: Date
  /** By the database's clock. */
  readonly mergedAt?: Date
}

/** The transactions that the removal of blocks took out of the ledger. */
export interface Undone {
  /** The removed blocks, oldest first. */
  readonly blocks: readonly Block[]
  /** How many transactions were taken out: those of the blocks and those of the mempool. */
  readonly transactions: number
}

/** A transaction of the mempool as it was accepted. */
export interface ExaminedTransaction extends AppliedTransaction {
  /** Every output that it names: spends, reads, or offers as collateral. */
  readonly named: readonly OutputReference[]
}

/** The changes of the mempool by the adoption of a block. */
export interface Adopted {
  readonly block: Block
  /** Its transactions that were in the mempool. */
  readonly known: number
  /** Transactions of the mempool that became dead letters, because the block holds others in their place. */
  readonly dropped: number
}

/** An unspent output without address. */
export interface LedgerOutput {
  /** 32 bytes. */
  readonly transactionId: Uint8Array
  readonly index: number
  /** CBOR of the transaction output. */
  readonly output: Uint8Array
}

/**
 * The life of blocks. Each method that takes a lease is one SQL transaction; if the lease has expired or was
 * taken, it rejects with StoreError `STORE_LEASE_LOST` and changes nothing.
 */
export interface Blocks {
  /**
   * The oldest transactions of the mempool, in order: at most `limit`, and as many as have at most `maxBytes`
   * of CBOR together, but always one.
   *
   * @param after a sequence number: those after it only
   */
  oldest(limit: number, maxBytes?: number, after?: bigint): Promise<OrderedTransaction[]>
  /**
   * How many transactions are in the mempool, counted up to `limit`.
   *
   * @param after a sequence number: those after it only
   */
  waiting(limit: number, after?: bigint): Promise<number>

  /** The sequences, by positions from 0, of those transactions that the mempool holds, byte for byte. */
  inMempool(transactions: readonly Layer1Transaction[]): Promise<ReadonlyMap<number, bigint>>

  /** The newest block that is not removed; with `states`, the newest one in any of them. */
  newest(states?: readonly Exclude<BlockState, 'removed'>[]): Promise<Block | undefined>
  /** The newest merged block. */
  confirmed(): Promise<Block | undefined>
  /** Blocks that are neither merged nor removed, oldest first. */
  unmerged(): Promise<Block[]>
  /** A block in any state, including removed. */
  byHash(headerHash: Uint8Array): Promise<Block | undefined>
  /** Those of {@link Blocks.byHash}, in any order. */
  byHashes(headerHashes: readonly Uint8Array[]): Promise<Block[]>
  /** A block that is not removed. */
  byHeight(height: bigint): Promise<Block | undefined>
  /**
   * The block, not removed, that holds a transaction, and the transaction's position from 0. @param id 32
   * bytes
   */
  ofTransaction(id: Uint8Array): Promise<{ readonly block: Block; readonly position: number } | undefined>
  /** Blocks that are not removed, by ascending height, including `from` and `to`. */
  range(from: bigint, to: bigint): Promise<Block[]>
  /**
   * A block's transactions, in order. Empty for a removed block.
   *
   * @param part by default all, oldest first
   */
  transactionsOf(headerHash: Uint8Array, part?: Partial<SequencePart>): Promise<OrderedTransaction[]>
  /** The newest blocks that are not removed, newest first. */
  counts(limit: number): Promise<BlockCount[]>
  /**
   * Milliseconds from the acceptance of a block's first transaction until layer 1 had the block, and until it
   * was merged: of the newest block that is so far.
   */
  delays(): Promise<{ readonly committedMs: number | undefined; readonly mergedMs: number | undefined }>

  /** The deposits of a block, ascending by id; of a removed block, those that still wait. */
  depositsOf(headerHash: Uint8Array): Promise<CreditedDeposit[]>
  /** The credits of a block, ascending by id; of a removed block as long as its body is kept. */
  creditsOf(headerHash: Uint8Array): Promise<Deposit[]>
  /**
   * The credits with these ids, of blocks of the ledger and of those with kept bodies. A deposit that was
   * made again after a roll-back has several outputs: that of the ledger comes last.
   */
  depositsById(ids: readonly Uint8Array[]): Promise<PlacedDeposit[]>
  /**
   * The deposits in the ledger that no block credits, ascending by id: their block was removed. Transactions
   * may spend them, so the next block must credit them.
   */
  waitingDeposits(): Promise<CreditedDeposit[]>

  /**
   * Appends a block of the mempool's oldest transactions, in state `built`, and takes its deposits into the
   * ledger. Replaces a removed block with the same header hash. A block with deposits and no transactions
   * needs an empty mempool.
   *
   * @throws StoreError `STORE_CONFLICT` if the block does not follow the newest one, if its transactions are
   *   not the oldest of the mempool, if it lacks a deposit that waits, or if one of its deposits is in
   *   another block
   */
  build(block: NewBlock, lease: Lease): Promise<Block>
  /**
   * Sets the state of all given blocks, forwards or, after a rollback of layer 1, backwards.
   *
   * @throws StoreError `STORE_CONFLICT` if one of them is unknown or removed
   */
  setState(
    headerHashes: readonly Uint8Array[],
    state: Exclude<BlockState, 'removed'>,
    lease: Lease,
  ): Promise<void>
  /**
   * Stores the transaction that merges a block, before it is sent. Replaces an earlier one.
   *
   * @throws StoreError `STORE_CONFLICT` if the block is unknown or removed
   */
  setMergeTransaction(headerHash: Uint8Array, transaction: Layer1Transaction, lease: Lease): Promise<void>
  /**
   * Removes the unmerged blocks from a height on and returns their transactions to the mempool, where they
   * are the oldest again. Their deposits wait; else the ledger does not change. Returns the removed blocks,
   * oldest first.
   */
  returnToMempool(fromHeight: bigint, lease: Lease): Promise<Block[]>
  /**
   * Removes the unmerged blocks from a height on, because layer 1 has removed them, and takes the ledger back
   * to the state before them, row for row, but for their deposits: these wait. Their transactions, and all
   * that were accepted after them, become {@link Resubmissions}.
   */
  undo(fromHeight: bigint, lease: Lease): Promise<Undone>
  /**
   * Drops transactions from the mempool because no block can hold them, and all that follow from them. The
   * ledger is as if they had never been accepted; each becomes a dead letter with the id
   * `dropped-<transaction id in hex>`.
   *
   * @param first by the hex of their ids
   * @param follow why a later transaction of the mempool must go too; `undefined` if it need not. Called in
   *   the order
   * of acceptance, for a transaction perhaps twice. It must name every transaction that spends or reads an
   * output of
   *   a dropped one.
   * @returns how many were dropped
   * @throws StoreError `STORE_CONFLICT` if one of `first` is not in the mempool, `STORE_INVALID_ARGUMENT` if
   *   `follow`
   *   spares a transaction that spends an output of a dropped one; nothing is changed then
   */
  drop(first: ReadonlyMap<string, DropReason>, follow: DropRule, lease: Lease): Promise<number>
  /**
   * Appends a valid block of another operator, in state `committed`. Replaces a removed block with the same
   * header hash; if that is an own one, the block keeps its commit. Transactions of the mempool that it holds
   * move into it. The others stay, in their order and after the block, unless they name an output that is
   * gone: these are dropped like those of {@link Blocks.drop}, with the predicate `ConflictsWithBlock`, and
   * so is all that follows from them. They rest on the transaction of the block that took their input: they
   * may be reopened when it leaves the ledger.
   *
   * @param examine takes the CBOR of a transaction that was accepted
   * @throws StoreError `STORE_CONFLICT` if it does not follow the newest block, if the ledger lacks what it
   *   spends, or if one of its deposits is in another block
   */
  adopt(
    block: ForeignBlock,
    examine: (cbor: Uint8Array) => ExaminedTransaction,
    lease: Lease,
  ): Promise<Adopted>
  /**
   * Restores a removed block, in state `committed`, because layer 1 has it after all. One that another
   * operator committed is adopted again instead, and so is an own one whose transactions have moved.
   *
   * @param credits all that it credits: {@link Blocks.creditsOf}. Without transactions, the deposits must be
   *   those that {@link Blocks.depositsOf} still has: otherwise adopt it
   * @throws StoreError `STORE_CONFLICT` if another operator committed it, if it does not follow the newest
   *   block, or if its transactions are not the oldest of the mempool
   */
  revive(headerHash: Uint8Array, lease: Lease, credits?: readonly CreditedDeposit[]): Promise<Block>
  /**
   * Takes deposits out of the ledger that wait and that no block credits again, with all that follows from
   * them.
   *
   * @param follow why a transaction of the mempool must go, because it names one of them or what was dropped;
   *   as in {@link Blocks.drop}
   * @returns how many transactions were dropped
   * @throws StoreError `STORE_CONFLICT` if one of them is in a block, spent, or unknown
   */
  forgetDeposits(ids: readonly Uint8Array[], follow: DropRule, lease: Lease): Promise<number>
  /**
   * Deletes the spent outputs of blocks that were merged before a time. Reads that started before then, and
   * removals of unmerged blocks, no longer need them. Returns how many were deleted.
   */
  forgetSpent(mergedBefore: Date, lease: Lease): Promise<number>
  /**
   * Empties blocks, mempool, ledger, address history and genesis. Everything else stays: dead letters,
   * leases, claims.
   */
  reset(lease: Lease): Promise<void>

  /**
   * The unspent outputs after the newest block at the time the read starts, in no particular order and in
   * pages of up to 5,000: the trie of outputs is rebuilt from them. The read blocks no other work. Do not run
   * {@link Blocks.forgetSpent}, {@link Blocks.adopt}, {@link Blocks.undo}, {@link Blocks.drop} or
   * {@link Blocks.reset} before it ends, nor {@link Blocks.returnToMempool} or {@link Blocks.revive} for
   * blocks with deposits.
   */
  utxosAfterNewest(): AsyncIterable<readonly LedgerOutput[]>
  /** The same for a block that is neither merged nor removed. */
  utxosAfter(block: Pick<Block, 'lastSequence'>): AsyncIterable<readonly LedgerOutput[]>
  /** Those of `references` that are unspent after the newest block, in no particular order. One query. */
  outputsAfterNewest(references: readonly OutputReference[]): Promise<StoredOutput[]>
}
