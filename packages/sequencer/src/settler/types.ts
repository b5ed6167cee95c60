import type { BytesMap } from '@ratatosk/cbor'
import type { Layer1, Wallet } from '@ratatosk/layer1'
import type { Utxo } from '@ratatosk/ledger'
import type { TransactionDraft } from '@ratatosk/ledger/builder'
import type { Log } from '@ratatosk/ports'
import type { Bridge, Contracts } from '@ratatosk/protocol'
import type { Store } from '@ratatosk/store'

/** Contracts of a deployment that has a bridge. */
export type BridgeContracts = Contracts & { readonly bridge: Bridge }

/** Options of {@link createSettler}. */
export interface SettlerOptions {
  readonly layer1: Layer1
  readonly contracts: BridgeContracts
  /** The blocks whose withdrawals are paid. */
  readonly blocks: Pick<Store['blocks'], 'byHash' | 'transactionsOf'>
  readonly leases: Pick<Store['leases'], 'hold'>
  /** Pays the fees, and for nothing else; opened with {@link settlerKeys} and an evaluator. */
  readonly wallet: Wallet
  /** Fills the wallet when something is owed: the operator's. Without it, the wallet needs another source. */
  readonly fundedBy?: Wallet
  /**
   * Whether this process should pay now: the one whose sequencer is active, so that no two processes spend
   * from the operator's wallet. @defaultValue always
   */
  readonly isNeeded?: () => boolean
  /** Pay without being asked. @defaultValue true */
  readonly autoPay?: boolean
  /** Names this process in leases and logs; unique among running processes. */
  readonly holder: string
  readonly log?: Log
  /** Milliseconds between two reads of layer 1's tip. @defaultValue 1000 */
  readonly pollMs?: number
  /** Milliseconds until another settler replaces a killed one. @defaultValue 10000 */
  readonly leaseMs?: number
  /** How long layer 1 may take to include a payout, in milliseconds. @defaultValue 120000 */
  readonly validityMs?: number
  /** Withdrawals that are tried in one payout; fewer if it is too large. @defaultValue 16 */
  readonly batch?: number
  /** Payouts that may wait for layer 1 at a time. @defaultValue 8 */
  readonly maxInFlight?: number
  /** How many deposits that blocks have credited become reserves at a time. @defaultValue 50 */
  readonly tidyFrom?: number
}

/** Which withdrawals to pay. */
export interface PayOptions {
  /** Of this block only; 28 bytes. */
  readonly headerHash?: Uint8Array
  /** The most withdrawals to pay. */
  readonly limit?: number
}

/** The payouts that a call has sent. */
export interface Paid {
  /** In the order of sending; 64 hex digits each. */
  readonly txHashes: readonly string[]
  /** The withdrawals in them. */
  readonly paid: number
  /** The withdrawals that neither these nor earlier payouts pay, in the settlements that can be read. */
  readonly remaining: number
}

/** A settlement as the settler has last read it. */
export interface SettlementStatus {
  /** 56 hex digits. */
  readonly headerHash: string
  /** `<64 hex digits>#<index>` */
  readonly outref: string
  /** Withdrawals that layer 1 has not paid, also those that no one can pay; null if that is unknown. */
  readonly remaining: number | null
  /** Why the rest is not paid now. */
  readonly waitsFor?: string
}

/** The state of a settler, for people. */
export interface SettlerStatus {
  /** Whether it holds the lease. */
  readonly active: boolean
  /** The bech32 address that pays the fees. */
  readonly wallet: string
  readonly settlements: readonly SettlementStatus[]
  /** Payouts that were sent and are not in a block that was read. */
  readonly inFlight: number
  /** Withdrawals that this process has paid, in blocks of layer 1. */
  readonly paid: number
  /** Withdrawals that were left out, because no transaction with them could be built. */
  readonly setAside: readonly { readonly outref: string; readonly reason: string }[]
  /** Why nothing is paid. */
  readonly fault?: string
}

/** The sum of the withdrawals that a settlement owes. */
export interface OwedCount {
  /** `outputReferenceKey` of the settlement: a payout makes another one. */
  readonly outref: string
  readonly remaining: number
  /** Of those that can be paid. */
  readonly lovelace: bigint
}

/** A payout to draft. */
export interface PayoutOrder {
  /** Of the block of the withdrawals, 28 bytes. */
  readonly headerHash: Uint8Array
  /** `outputReferenceKey`s. */
  readonly outrefs: readonly string[]
  /** Gets the ada of a settlement that ends: bech32, or the bytes of CIP-19. */
  readonly payer: string | Uint8Array
  /** Outputs that may hold the scripts. */
  readonly referenceScripts: readonly Utxo[]
}

/** The effect of a payout of some withdrawals, or why nothing is paid. */
export type PayoutDraft =
  | { readonly kind: 'draft'; readonly draft: TransactionDraft }
  | { readonly kind: 'not owed'; readonly reason: string }

/** Reports which withdrawals are left. Any process may ask. */
export interface OwedReader {
  /**
   * The withdrawals of a block that layer 1 has not paid, also those that no one can pay, as
   * `outputReferenceKey`s.
   *
   * @param headerHash 28 bytes
   * @returns undefined if layer 1 has no settlement of this block: it is not merged, owed nothing, or has
   *   paid all; or if it is unknown which are left
   * @throws {Layer1Error} (rejects)
   */
  remaining(headerHash: Uint8Array, signal?: AbortSignal): Promise<ReadonlySet<string> | undefined>
  /** Counts the same, without their names. */
  count(headerHash: Uint8Array, signal?: AbortSignal): Promise<OwedCount | undefined>
  /**
   * Ids of the layer-1 transactions that have paid withdrawals of a merged block, as layer 1 shows them.
   *
   * @returns by the CBOR of the withdrawal's reference
   * @throws {Layer1Error} (rejects)
   */
  payouts(headerHash: Uint8Array, signal?: AbortSignal): Promise<Pick<BytesMap<Uint8Array>, 'get'>>
  /**
   * Drafts a payout that any wallet may complete and send. Transactions in flight are not known.
   *
   * @throws {Layer1Error} (rejects)
   */
  draft(order: PayoutOrder, signal?: AbortSignal): Promise<PayoutDraft>
}

/** Pays what merged blocks owe, while it holds the settler's lease. */
export interface Settler extends OwedReader {
  /** Takes the lease as soon as it is free, from now on. Resolves at once. */
  start(): Promise<void>
  /**
   * Pays now what can be paid, as it does on its own with `autoPay`. Resolves when the payouts are sent.
   *
   * @throws {SettlerError} `SETTLER_NOT_ACTIVE`
   * @throws {Layer1Error} (rejects)
   */
  pay(options?: PayOptions): Promise<Paid>
  status(): SettlerStatus
  /** Ends after the running step and frees the lease. Safe to call twice. */
  close(): Promise<void>
}
