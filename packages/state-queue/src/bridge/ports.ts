import type { BridgeAnswer, DepositAnswer, WithdrawalAnswer } from './answers.js'

/** Amounts of tokens by unit: policy id and asset name in hex, joined. */
export type AssetAmounts = ReadonlyMap<string, bigint>

/** Source of `GET /bridge`. */
export interface BridgeReader {
  /** @param signal aborts when the client disconnects */
  read(signal?: AbortSignal): Promise<BridgeAnswer>
}

/** A part of a list. */
export interface ListPart {
  readonly limit: number
  readonly offset: number
}

export interface DepositsPart extends ListPart {
  /** 32 bytes. */
  readonly id?: Uint8Array
  /** Of its output on layer 1 or on layer 2, `<64 hex digits>#<index>`. */
  readonly outref?: string
  /** Who gets it on layer 2, as sent. */
  readonly address?: string
  readonly state?: DepositAnswer['state']
}

/** Source of `GET /deposits`. */
export interface DepositList {
  /**
   * Reads a page, by time: those at the bridge; with an id, also one whose output there is spent.
   *
   * @param signal aborts when the client disconnects
   * @returns `'not an address'` of the network, as the part names one
   */
  list(
    part: DepositsPart,
    signal?: AbortSignal,
  ): Promise<{ readonly deposits: readonly DepositAnswer[]; readonly hasMore: boolean } | 'not an address'>
}

export interface WithdrawalsPart extends ListPart {
  /** On layer 2, `<64 hex digits>#<index>`. */
  readonly outref?: string
  /** Who gets it on layer 1, as sent. */
  readonly address?: string
  /** Of its block, 28 bytes. */
  readonly headerHash?: Uint8Array
  readonly state?: WithdrawalAnswer['state']
}

/** Source of `GET /withdrawals`. */
export interface WithdrawalList {
  /**
   * Reads a page, in order of acceptance.
   *
   * @param signal aborts when the client disconnects
   * @returns `'not an address'` of the network, as the part names one; `'busy'`: too many read lists
   */
  list(
    part: WithdrawalsPart,
    signal?: AbortSignal,
  ): Promise<
    | { readonly withdrawals: readonly WithdrawalAnswer[]; readonly hasMore: boolean }
    | 'not an address'
    | 'busy'
  >
}

/** The wallet that a draft is for, as CIP-30 answers. */
export interface DraftWallet {
  /** CBOR of pairs of reference and output. */
  readonly utxos: readonly Uint8Array[]
  /** Bech32, or the bytes of CIP-19 in hex. */
  readonly changeAddress: string
}

/** The datum of the output that a deposit becomes. */
export type RequestedDatum =
  | { readonly kind: 'inline'; readonly data: Uint8Array }
  | { readonly kind: 'hash'; readonly hash: Uint8Array }

export interface DepositRequest extends DraftWallet {
  /** Bech32, on layer 2. */
  readonly to: string
  readonly lovelace: bigint
  readonly assets: AssetAmounts
  readonly datum?: RequestedDatum
}

export interface PayoutDraftRequest extends DraftWallet {
  /** Withdrawals of one settlement, `<64 hex digits>#<index>` on layer 2 each. */
  readonly outrefs: readonly string[]
}

/** An unsigned transaction of layer 1. */
export interface Draft {
  readonly kind: 'drafted'
  readonly transaction: Uint8Array
  /** 32 bytes. */
  readonly transactionId: Uint8Array
  readonly fee: bigint
  /** Of a deposit, 32 bytes. */
  readonly id?: Uint8Array
  /** Of a deposit, POSIX milliseconds: the block of this time credits it. */
  readonly creditedFrom?: bigint
}

export type DraftOutcome =
  | Draft
  /** The reason is a sentence for people, without a full stop. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Nothing of it is owed now. */
  | { readonly kind: 'not owed'; readonly reason: string }
  /** Too many wait. */
  | { readonly kind: 'busy' }

/** Drafts the transactions of `POST /bridge/draft`. */
export interface Drafter {
  /** @param signal aborts when the client disconnects */
  deposit(request: DepositRequest, signal?: AbortSignal): Promise<DraftOutcome>
  /** @param signal aborts when the client disconnects */
  payout(request: PayoutDraftRequest, signal?: AbortSignal): Promise<DraftOutcome>
}

export type SubmitOutcome =
  /** 32 bytes. */
  | { readonly kind: 'sent'; readonly transactionId: Uint8Array }
  /** It neither pays to the bridge nor spends from it. */
  | { readonly kind: 'foreign' }
  /** An input is spent, or never was. */
  | { readonly kind: 'spent' }
  /** The reason is a sentence for people, without a full stop. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Too many wait. */
  | { readonly kind: 'busy' }

/** Sends the transactions of `POST /bridge/submit` to layer 1. */
export interface BridgeSubmitter {
  /** @param signal aborts when the client disconnects */
  submit(transaction: Uint8Array, signal?: AbortSignal): Promise<SubmitOutcome>
}

/** The withdrawals that the operator wants to be paid. */
export interface PayoutRequest {
  /** Only the settlement of this block, 28 bytes. */
  readonly headerHash?: Uint8Array
  /** The most withdrawals to pay. */
  readonly limit?: number
}

export type PayoutOutcome =
  | {
      readonly kind: 'paid'
      /** 32 bytes each, in the order in which they were sent. */
      readonly transactionIds: readonly Uint8Array[]
      /** How many withdrawals they pay. */
      readonly paid: number
      /** How many are owed still. */
      readonly remaining: number
    }
  /** The reason is a sentence for people, without a full stop. */
  | { readonly kind: 'refused'; readonly reason: string }

/** Pays withdrawals of merged blocks. */
export interface Payer {
  /** @param signal aborts when the client disconnects */
  pay(request: PayoutRequest, signal?: AbortSignal): Promise<PayoutOutcome>
}

/** The ports of a deployment with a bridge. */
export interface BridgePorts {
  /** Source of `GET /bridge`. */
  readonly bridge: BridgeReader
  /** Source of `GET /deposits`. */
  readonly deposits: DepositList
  /** Source of `GET /withdrawals`. */
  readonly withdrawals: WithdrawalList
  readonly drafter: Drafter
  readonly submitter: BridgeSubmitter
  /** Undefined in a process that pays nothing: it does not serve `POST /payout`. */
  readonly payer: Payer | undefined
}
