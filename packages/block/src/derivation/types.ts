import type { Transaction } from '@ratatosk/ledger'
import type { TrieEntry, TrieOperation } from '@ratatosk/trie'
import type { BlockDiff, Deposit } from '../body.js'
import type { BlockError } from '../errors.js'
import type { ChunkRecord } from './chunks.js'
import type { OutputRecord, TransactionRecord } from './records.js'

/**
 * The outputs before a block: Blake2b-256 of an output's CBOR by the CBOR of its reference; undefined when
 * it is not unspent. `OutputTrie.outputHash` is one.
 */
export type OutputHashes = (outref: Uint8Array) => Uint8Array | undefined

/** The transactions map of a block, and what else follows from its transactions. */
export interface DerivedBlock {
  /** By position. */
  readonly transactions: readonly TransactionRecord[]
  /** By number. */
  readonly chunks: readonly ChunkRecord[]
  /** The changes of the outputs that the block brings or spends; by `outputReferenceKey`. */
  readonly outputs: DerivedOutputs
  /** The map of `depositsRoot`: the reference of each output that the block credits, and its CBOR. */
  deposits(): Iterable<TrieEntry>
  /** The map of `withdrawalsRoot`: the reference of each output that leaves layer 2, and its CBOR. */
  withdrawals(): Iterable<TrieEntry>
  /** Key and value of every entry of the map: transactions, chunks, outputs. */
  entries(): Iterable<TrieEntry>
  /** The same entries, of which each is overwritten by the next, with the hashes of keys that are known. */
  sharedEntries(): Iterable<TrieEntry>
}

/** The entries of the transactions map for outputs, which are made when they are asked for. */
export interface DerivedOutputs {
  /** @param key `outputReferenceKey` of the output */
  get(key: string): DerivedOutput | undefined
  values(): Iterable<DerivedOutput>
}

/** An entry of the transactions map for an output. */
export interface DerivedOutput extends OutputRecord {
  /** CBOR of its reference: the key. */
  readonly outref: Uint8Array
}

/**
 * Derives the maps of a block from its deposits and its transactions, one at a time. Total: every list of
 * byte strings has a map. If several transactions spend or produce the same output, the first one counts; an
 * output without a producer has a hash of zeros; bytes that are no transaction spend and produce nothing.
 */
export interface Derivation {
  /**
   * Adds a deposit of the block, or its fee output: neither has a transaction that made it, whenever it is
   * added. One with an id that is already there counts for nothing.
   */
  deposit(deposit: Deposit): void
  /** Adds the next transaction of the block. @param transaction its CBOR, or what it decodes to */
  add(transaction: Uint8Array | Transaction): void
  /** The fees of the transactions so far in lovelace, modulo 2^64. */
  readonly fees: bigint
  /**
   * The first contradiction between the transactions, or the first that does not decode, has bytes that do
   * not follow from its body and witness set, or is one too many.
   */
  readonly fault: BlockError | undefined
  /** `spent` and `produced` of the body, in the order of the encoding. */
  diff(): BlockDiff
  /** The same; other work runs meanwhile. */
  diffInTurns(): Promise<BlockDiff>
  /** Whether {@link Derivation.diff} is this one; other work runs meanwhile. */
  hasDiff(diff: BlockDiff): Promise<boolean>
  /**
   * The operations on the trie of unspent outputs by the transactions since the last call, in no particular
   * order: after all of them, what the diff does.
   */
  operations(): readonly TrieOperation[]
  /** The outputs that the block only reads: CBOR of their references. */
  read(): Iterable<Uint8Array>
  /** The outputs that the block spends or reads and does not bring: CBOR of their references. */
  older(): Iterable<Uint8Array>
  /**
   * The map. May be called once.
   *
   * @param before the outputs before the block. It gets the very arrays that {@link Derivation.operations}
   *   and
   *   {@link Derivation.read} have given, so that it can look them up by identity.
   */
  derive(before: OutputHashes): DerivedBlock
  /** The same; other work runs meanwhile. */
  deriveInTurns(before: OutputHashes): Promise<DerivedBlock>
}
