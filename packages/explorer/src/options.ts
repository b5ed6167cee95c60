import type { Transaction, UtxoView } from '@ratatosk/ledger'
import type { ExplorerOutput, ExplorerReads, RedeemerReport, TransactionPlace } from '@ratatosk/ports'
import type { RegisterOptions } from 'fastify'
import type { TrustAnswer } from './schemas/answers.js'

/** Accepted transactions. The README makes it of a store of `@ratatosk/store`. */
export interface ExplorerLedger {
  /** CBOR of an accepted transaction (id of 32 bytes). */
  transaction(id: Uint8Array): Promise<Uint8Array | undefined>
  /** Where it is. */
  placeOf(id: Uint8Array): Promise<TransactionPlace | undefined>
  /** A part of a block's transactions, in order. */
  transactionsOf(
    headerHash: Uint8Array,
    part: { readonly offset: number; readonly limit: number },
  ): Promise<readonly { readonly id: Uint8Array; readonly cbor: Uint8Array }[]>
  /** Accepted transactions in no block, counted up to a limit; `bytes` of CBOR. */
  mempool(limit: number): Promise<{ readonly transactions: number; readonly bytes: number }>
  /** The newest sequences of acceptances and of rejections. */
  head(): Promise<{ readonly accepted: bigint; readonly rejected: bigint }>
}

/** The transactions that wait for validation. `SubmissionQueue` of `@ratatosk/queue` has it. */
export interface ExplorerQueue {
  waiting(): Promise<{
    readonly transactions: number
    readonly bytes: number
    /** When the oldest submission without a first delivery came. */
    readonly oldestAt: Date | undefined
  }>
}

/** Outputs, addresses and assets. `LedgerIndex` of `@ratatosk/layer2/ledger-index` satisfies it. */
export interface ExplorerIndex {
  outputs(
    query: {
      readonly references?: readonly { readonly transactionId: Uint8Array; readonly index: number }[]
      readonly transaction?: Uint8Array
    },
    part: { readonly offset: number; readonly limit: number },
  ): Promise<readonly ExplorerOutput[]>
  /** @param address its bytes */
  knowsAddress(address: Uint8Array): Promise<boolean>
  assets(
    policy: Uint8Array,
    part: { readonly offset: number; readonly limit: number },
  ): Promise<readonly unknown[]>
  asset(policy: Uint8Array, name: Uint8Array): Promise<unknown>
}

/** The facts of layer 1. Each call may fail; the answer is then without it. */
export interface ExplorerLayer1 {
  tip(): Promise<{ readonly height: number; readonly slot: bigint; readonly at: Date }>
  /** The wallet that pays for commitments; undefined if this node does not know it. */
  wallet(): Promise<{ readonly address: string; readonly lovelace: bigint } | undefined>
}

/** Options of {@link explorer}. */
export interface ExplorerOptions extends RegisterOptions {
  reads: ExplorerReads
  ledger: ExplorerLedger
  queue: ExplorerQueue
  /** Without it, inputs are not resolved, outputs have no spender, and `/explorer/output` is not served. */
  index?: ExplorerIndex
  /** Without it, the overview has neither tip nor wallet. */
  layer1?: ExplorerLayer1
  /** Who commits blocks now. */
  sequencer?: () => Promise<{ readonly holder: string; readonly expiresAt: Date } | undefined>
  /**
   * Runs the scripts of an accepted transaction again, for the units that they use. It may refuse. Without
   * it, or without an index, these are not shown.
   *
   * @param outputs of its inputs and reference inputs, by `outputReferenceKey`
   */
  runScripts?: (
    transaction: Transaction,
    outputs: UtxoView,
  ) => Promise<{ readonly redeemers: readonly RedeemerReport[] }>
  /** Whether a submission id is known; without it, submissions are not searched. */
  knowsSubmission?: (id: string) => Promise<boolean>
  /** The identity of this process. */
  node: { readonly version: string; readonly role: string; readonly network: string }
  /** The answers of `/explorer/trust`. */
  trust: readonly TrustAnswer[]
  /** From a block's end until it may be merged, in milliseconds. */
  maturityWindowMs?: number
  /** Now, in POSIX milliseconds. Default: `Date.now`. */
  clock?: () => number
}
