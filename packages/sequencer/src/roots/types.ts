import type { BlockInterval, Deposit, FeeTarget } from '@ratatosk/block'
import type { SummonsQuestion } from '@ratatosk/contracts'
import type { NodeAnswer } from '@ratatosk/protocol/fraud'
import type { LedgerOutput } from '@ratatosk/store'
import type { Proof } from '@ratatosk/trie'

/** The roots that a block's header takes from its transactions, 32 bytes each. */
export interface BlockRoots {
  /** Root of the unspent outputs after the block: output reference CBOR → output CBOR as submitted. */
  readonly utxosRoot: Uint8Array
  /**
   * Root of the block's transactions map; see `deriveBlock` of `@ratatosk/block`. Zeros for a block without
   * transactions.
   */
  readonly transactionsRoot: Uint8Array
  /** Root of the outputs that the block credits; zeros without one. */
  readonly depositsRoot: Uint8Array
  /** Root of the outputs that leave by the block; zeros if none does. */
  readonly withdrawalsRoot: Uint8Array
}

/** The roots of a block, and its fee output. */
export interface PaidRoots extends BlockRoots {
  /** Absent without fees, or if they go to no one. */
  readonly fees?: Deposit
}

/** Transactions that a block must not hold, by their positions; one list at least is not empty. */
export interface Misfits {
  /** Their validity ended before the block begins. */
  readonly expired: readonly number[]
  /** Their validity begins after the block. */
  readonly notBegun: readonly number[]
}

/**
 * The Merkle roots of blocks, computed on a thread of their own. Calls run one after another, in the order in
 * which they were made. Each takes effect as a whole or, when it rejects, not at all.
 */
export interface Roots {
  /**
   * Root of the unspent outputs after the last applied block: 32 bytes, zeros when there is no unspent
   * output.
   */
  root(): Promise<Uint8Array>
  /**
   * Applies a block to the unspent outputs; durable when it resolves.
   *
   * @param transactions CBOR of the block's transactions, in block order; copied before the call returns
   * @param deposits that the block credits before its first transaction, its fee output included
   * @throws {BlockError} `BLOCK_INPUT_MISSING`, `BLOCK_OUTPUT_EXISTS`, `BLOCK_DOUBLE_SPEND`,
   *   `BLOCK_SPENT_BEFORE_PRODUCED`, `BLOCK_TRANSACTION_MALFORMED`, `BLOCK_TOO_LARGE`
   * @throws {RootsError}
   */
  apply(transactions: readonly Uint8Array[], deposits?: readonly Deposit[]): Promise<BlockRoots>
  /**
   * Applies a block like {@link Roots.apply} if the validity interval of each transaction meets the block's.
   * Otherwise names those that do not, and applies nothing.
   *
   * @param feesTo whom the fees are paid to; no one by default
   */
  applyWithin(
    transactions: readonly Uint8Array[],
    interval: BlockInterval,
    deposits?: readonly Deposit[],
    feesTo?: FeeTarget,
  ): Promise<PaidRoots | Misfits>
  /**
   * Does ahead what it can for the next block, while that fills up. Nothing changes and nothing is stored; if
   * the next block begins with these transactions, it takes less time.
   *
   * @param transactions CBOR of transactions in block order; copied before the call returns
   * @param after how many transactions of the block have been prepared before
   * @returns how many are prepared now; 0 if it was not `after`, or if something is wrong with the
   *   transactions: then from the first again
   */
  prepare(transactions: readonly Uint8Array[], after: number): Promise<number>
  /**
   * Frees disk space of states that are no longer kept: a share of what there is, in pieces between which
   * other calls run. To be called after each block is stored.
   */
  free(): Promise<void>
  /**
   * Returns to the newest kept state with this root and forgets the states after it.
   *
   * @returns false when no such state is kept; nothing has changed then, and {@link Roots.rebuild} is needed
   */
  revert(root: Uint8Array): Promise<boolean>
  /**
   * Replaces all unspent outputs and forgets the earlier states. The outputs stay as they were until the last
   * piece has come, and when `pieces` throws, whose error the call rejects with.
   *
   * @param pieces unspent outputs in any order, such as `blocks.utxosAfterNewest()` of the store
   * @returns the root
   * @throws {BlockError} `BLOCK_OUTPUT_EXISTS` when a reference occurs twice
   */
  rebuild(pieces: AsyncIterable<readonly LedgerOutput[]>): Promise<Uint8Array>
  /**
   * Proves whether an output was unspent in a kept state.
   *
   * @param root of the state
   * @param outref CBOR of the output's reference
   * @returns undefined when the state is no longer kept
   */
  prove(root: Uint8Array, outref: Uint8Array): Promise<OutputProof | undefined>
  /**
   * Answers a question of the summons about a node of the unspent outputs in a kept state.
   *
   * @param root of the state
   */
  answer(root: Uint8Array, question: SummonsQuestion): Promise<NodeAnswer | 'no such node' | 'not kept'>
  /** Waits for the calls made so far, then ends the thread. Safe to call twice. */
  close(): Promise<void>
}

/** A proof that an output was, or was not, unspent in a state. */
export interface OutputProof {
  readonly isUnspent: boolean
  /** `proofToCbor` of `@ratatosk/trie`. */
  readonly proof: Uint8Array
}

/** Where the unspent outputs are kept. */
export interface RootsOptions {
  /**
   * LMDB folder, created if missing, for one process at a time. Without it the outputs are kept in memory.
   */
  readonly path?: string
  /** The number of earlier states that can be reverted to. @defaultValue 64 */
  readonly history?: number
  /** Hash of the bridge's script: outputs at its enterprise address leave. Without it, none does. */
  readonly bridge?: Uint8Array | undefined
}

/** The answer to a question of the summons. */
export type Shown =
  | { readonly kind: 'node'; readonly node: NodeAnswer }
  | {
      readonly kind: 'chunk'
      /** Its record in the transactions map, proven. */
      readonly entry: Uint8Array
      readonly proof: Proof
      readonly bytes: Uint8Array
    }
  | { readonly kind: 'no chunk'; readonly absent: Proof }
  /** The map does not have what the question is about. */
  | { readonly kind: 'nothing' }
