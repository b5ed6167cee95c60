import type { Transaction, TransactionOutput } from '@ratatosk/ledger'

/** A block's place in the chain. Hashes are 64 hex digits. */
export interface Point {
  readonly slot: bigint
  readonly hash: string
}

export interface Tip extends Point {
  /** The first block after genesis is 1. */
  readonly height: number
}

export interface ChainTransaction {
  /** Blake2b-256 of the body: 64 hex digits. */
  readonly hash: string
  readonly transaction: Transaction
  /** The order of submission, over the whole life of the chain. */
  readonly sequence: number
}

export interface Block extends Tip {
  /** The hash of the block before; of the first block, genesis'. */
  readonly previous: string
  /** POSIX milliseconds at which the block's slot begins. */
  readonly time: bigint
  /** Bytes of all transactions. */
  readonly size: number
  readonly transactions: readonly ChainTransaction[]
}

/** Where in the chain something happened. */
export interface Place {
  readonly block: Tip
  /** The transaction's position in the block. */
  readonly position: number
}

/** An output that a block has made. */
export interface ChainOutput {
  /** `<64 hex digits>#<index>`: `outputReferenceKey`. */
  readonly key: string
  readonly transactionHash: string
  readonly index: number
  readonly output: TransactionOutput
  readonly created: Place
  /** A collateral return: there only because its transaction's scripts failed. */
  readonly collateralReturn: boolean
  /** The transaction that has spent it, and where; absent: unspent. */
  readonly spent?: Place & { readonly transactionHash: string; readonly by: 'inputs' | 'collateral' }
}

/** Which unspent outputs are asked for; of several conditions, all must hold. None: every output. */
export interface UtxoQuery {
  /** Bech32 or Byron base58. */
  readonly address?: string
  /** The hash of the payment part, 56 hex digits: a key's or a script's. */
  readonly paymentCredential?: string
  /** Policy id and asset name in hex, joined: what the output must hold. */
  readonly unit?: string
  /** `<64 hex digits>#<index>`. */
  readonly references?: readonly string[]
  /** The hash of the transaction that made them. */
  readonly transaction?: string
}

export type TransactionStatus =
  | { readonly status: 'unknown' }
  | { readonly status: 'pending' }
  /** `confirmations`: blocks upon its block, 0 while that is the tip. */
  | { readonly status: 'confirmed'; readonly place: Place; readonly confirmations: number }
