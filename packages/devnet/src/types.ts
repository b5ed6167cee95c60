import type { ProtocolParameters } from '@ratatosk/ledger'
import type { Evaluator } from '@ratatosk/ledger/plutus'
import type { ChainReads, ChainTip, DevnetBlock, DevnetSubmitResult, Place } from './chain/types.js'
import type { Faults } from './faults.js'
import type { Genesis } from './genesis.js'
import type { DevnetStore } from './store/store.js'

/** Options of `createDevnet`. */
export interface DevnetOptions {
  /** Where the chain is kept. Default: in memory, lost when the process ends. */
  readonly store?: DevnetStore
  /** Protocol parameters. Default: those of the stored chain's ledger version; of a new one, version 11. */
  readonly parameters?: ProtocolParameters
  /** Default: the public test wallets, with 5 outputs of 10,000 ada each. */
  readonly genesis?: Genesis
  /** The current time in POSIX milliseconds. Default: the system clock. */
  readonly clock?: { now(): number }
  /** Length of a slot in milliseconds. Default 1000. */
  readonly slotLengthMs?: number
  /**
   * Interval between blocks in milliseconds; they come late in their slots. 0: only `produceBlock` makes
   * blocks. Default 1000.
   */
  readonly blockEveryMs?: number
  /** Largest total size of the transactions in a block, in bytes. Default 90,112. */
  readonly maxBlockSize?: number
  /** Number of blocks that can be rolled back. Older empty blocks are pruned. Default 2160. */
  readonly securityParameter?: number
  /** Runs Plutus scripts; the caller closes it. Default: an evaluator that the devnet opens and closes. */
  readonly evaluator?: Pick<Evaluator, 'evaluate'>
  /** Called when a scheduled block fails or a listener throws. Default: `process.emitWarning`. */
  readonly onError?: (error: unknown) => void
}

/** Options of `Devnet.rollBack` and `Devnet.rollBackTo`. */
export interface RollBackOptions {
  /** Return undone transactions to the mempool. Default false: they are lost, as in cardano-node. */
  readonly resubmit?: boolean
}

/** Whether a transaction is on the chain. */
export type DevnetStatus =
  /** Neither in a block nor in the mempool. */
  | { readonly status: 'unknown' }
  /** In the mempool. */
  | { readonly status: 'pending' }
  /** In a block; `confirmations` counts the blocks after it, 0 while its block is the tip. */
  | { readonly status: 'confirmed'; readonly place: Place; readonly confirmations: number }

/**
 * A Cardano layer 1 in this process. Reads are synchronous and answer from memory. Changes run one at a time
 * and are in the store before they are visible.
 */
export interface Devnet extends ChainReads {
  /** 0, as on every test network. */
  readonly networkId: 0
  /** Faults for the APIs and clients of this devnet. */
  readonly faults: Faults

  /** Whether a transaction is pending, confirmed or unknown. */
  status(hash: string): DevnetStatus
  /**
   * Validates a transaction against all ledger rules and adds it to the mempool if it is valid.
   *
   * @throws {DevnetError} (rejects) `DEVNET_CLOSED`
   * @throws {ScriptsNotRunError} (rejects) the evaluator could not run the scripts
   */
  submit(cbor: Uint8Array): Promise<DevnetSubmitResult>
  /**
   * Makes a block from the mempool now, in the current slot or, if that slot has a block, in the next one.
   *
   * @throws {DevnetError} (rejects) `DEVNET_CLOSED`
   */
  produceBlock(): Promise<DevnetBlock>
  /**
   * Undoes the newest blocks and restores the unspent outputs exactly. Pending transactions that become
   * invalid are dropped.
   *
   * @returns the new tip
   * @throws {DevnetError} (rejects) `DEVNET_ROLLBACK_TOO_DEEP`, `DEVNET_CONFIGURATION` if `blocks` is not a
   *   whole number, `DEVNET_CLOSED`
   */
  rollBack(blocks: number, options?: RollBackOptions): Promise<ChainTip>
  /**
   * Undoes the block that contains a transaction, and all after it.
   *
   * @param transaction its hash, hex
   * @returns the new tip
   * @throws {DevnetError} (rejects) `DEVNET_NOT_IN_A_BLOCK`, `DEVNET_ROLLBACK_TOO_DEEP`, `DEVNET_CLOSED`
   */
  rollBackTo(transaction: string, options?: RollBackOptions): Promise<ChainTip>
  /** Stops block production and waits for running changes. The store stays open; its owner closes it. */
  close(): Promise<void>
}
