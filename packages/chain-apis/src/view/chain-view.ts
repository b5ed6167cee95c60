import type {
  Credential,
  Failures,
  ProtocolParameters,
  Redeemer,
  RedeemerFault,
  Script,
  SlotConfig,
  Transaction,
  TransactionOutput,
  UtxoView,
} from '@ratatosk/ledger'
import type { EvaluationResult, RedeemerPointer } from '@ratatosk/ledger/plutus'

// The port between a chain and the HTTP APIs that serve it, and the values that cross it. Hashes are
// lower-case hex; output references are `<64 hex digits>#<index>`, as `outputReferenceKey` of
// `@ratatosk/ledger` writes them.

/** A value, or a promise of it: a chain may answer from memory or from a database. */
export type Awaitable<T> = T | Promise<T>

/** A position on the chain. */
export interface Point {
  readonly slot: bigint
  /** Block hash, 64 hex digits. On layer 2, the last 8 of them are zeros. */
  readonly hash: string
}

/** The position of a block that also has a height. */
export interface ChainTip extends Point {
  /** Number of blocks up to this one: 1 for the first block, 0 for genesis. */
  readonly height: number
}

/** A transaction that the chain or its mempool accepted. */
export interface ChainTransaction {
  /** Transaction id: Blake2b-256 of the body, 64 hex digits. */
  readonly hash: string
  readonly transaction: Transaction
}

/** A transaction of the mempool. */
export interface MempoolEntry {
  /** Transaction id, 64 hex digits. */
  readonly hash: string
  /** Size of its CBOR. */
  readonly bytes: number
}

/** A block without its transactions. */
export interface ChainBlock extends ChainTip {
  /** Hash of the previous block; for the first block, the genesis hash. */
  readonly previous: string
  /** Start of the block's slot, in POSIX milliseconds. */
  readonly time: bigint
  /** Total size of the transactions, in bytes. */
  readonly size: number
  /** How many transactions it has. */
  readonly transactionCount: number
  /**
   * True for a block that may still get transactions. Chain synchronization delivers it only once it is
   * closed.
   */
  readonly open?: boolean
}

/** Where a transaction is on the chain. */
export interface Place {
  readonly block: ChainTip
  /** Index of the transaction in the block. */
  readonly position: number
}

/** An output created by a block or by genesis. */
export interface ChainOutput {
  /** Output reference, `<64 hex digits>#<index>`. */
  readonly key: string
  readonly transactionHash: string
  readonly index: number
  readonly output: TransactionOutput
  readonly created: Place
  /** True for the collateral return of a transaction whose scripts failed. */
  readonly collateralReturn: boolean
  /** The transaction that spent the output, and where; absent while the output is unspent. */
  readonly spent?: Place & { readonly transactionHash: string; readonly by: 'inputs' | 'collateral' }
}

/** A range of slots. Both ends are part of it; an absent one is no limit. */
export interface SlotRange {
  readonly from?: bigint
  readonly to?: bigint
}

/** Selects outputs. An output must match every field given; an empty query matches all of them. */
export interface OutputConditions<Bytes> {
  /** Of CIP-19. */
  readonly address?: Bytes
  /** Hash of the payment key or script, 28 bytes. */
  readonly paymentCredential?: Bytes
  /** Hash of the stake key or script, 28 bytes. */
  readonly stakeCredential?: Bytes
  /** Policy id, 28 bytes: the output holds an asset under it. */
  readonly policy?: Bytes
  /** Id of the transaction that created the outputs, 32 bytes. */
  readonly transaction?: Bytes
  /** Hash of the reference script that the output holds, 28 bytes. */
  readonly referenceScript?: Bytes
  /** True: only spent outputs; false: only unspent ones. Default: both. */
  readonly spent?: boolean
}

/** Bytes are in hex. */
export interface ChainOutputQuery extends OutputConditions<string> {
  /** Policy id followed by the asset name, in hex: an asset that the output holds. */
  readonly unit?: string
  /** Output references, `<64 hex digits>#<index>`. */
  readonly references?: readonly string[]
  /** The slot of `created`. */
  readonly createdIn?: SlotRange
  /** The slot of `spent`: only spent outputs. */
  readonly spentIn?: SlotRange
}

/** A part of a list. */
export interface ListPart {
  /** How many entries to skip. */
  readonly offset: number
  /** The most entries to return; may be `Infinity`. */
  readonly limit: number
  /** Ages are those of blocks and positions, then of the index of an output. Default `oldest-first`. */
  readonly order?: 'oldest-first' | 'newest-first'
}

/** The supply of an asset, and the transactions that minted it. */
export interface MintedAsset {
  /** How much is left: 0 once burnt. */
  readonly quantity: bigint
  /** How many transactions minted or burnt it. */
  readonly mints: number
  /** The first of them, 64 hex digits; that of the genesis output if the chain began with the asset. */
  readonly first: string
  /** The newest of them. */
  readonly last: string
  /** The newest transaction that minted it with metadata of label 721 (CIP-25). */
  readonly described?: string
}

/** A change of the supply of an asset. */
export interface AssetMint {
  readonly hash: string
  /** Less than 0 if it was burnt. */
  readonly quantity: bigint
}

/** Who holds outputs: one of its fields is given. */
export type HolderQuery = Pick<ChainOutputQuery, 'address' | 'paymentCredential'>

/** A place in a range of blocks; without a position, the whole block. */
export interface BlockPoint {
  readonly height: number
  readonly position?: number
}

/** Blocks from one to another, both included. */
export interface BlockRange {
  readonly from?: BlockPoint
  readonly to?: BlockPoint
}

/** Sums over the transactions of blocks, in lovelace. */
export interface BlockTotals {
  readonly transactions: number
  readonly output: bigint
  readonly fees: bigint
}

/** A transaction of an address. */
export interface AddressTransaction {
  readonly hash: string
  readonly place: Place
}

/** A redeemer of a transaction on the chain. */
export interface ChainRedeemer extends Pick<Redeemer, 'purpose' | 'index' | 'executionUnits'> {
  /** Id of the transaction, 64 hex digits. */
  readonly hash: string
  /** Blake2b-256 of its data, 64 hex digits. */
  readonly dataHash: string
}

/** A registration of a stake credential, or its end, which has no deposit. */
export interface StakeRegistration extends AddressTransaction {
  /** In lovelace. */
  readonly deposit?: bigint
}

/**
 * The outcome of a submission. A rejection is a result, not an error.
 *
 * - `accepted`: the transaction is in the mempool.
 * - `malformed`: the bytes do not decode as a Conway transaction; `message` says where decoding stopped.
 * - `rejected`: the transaction violates the ledger rules in `failures`, at least one.
 * - `undecided`: there is no verdict yet. The transaction may still be accepted; submitting it again is safe.
 */
export type SubmitResult =
  | { readonly kind: 'accepted'; readonly hash: string }
  | { readonly kind: 'malformed'; readonly message: string }
  | {
      readonly kind: 'rejected'
      readonly hash: string
      readonly transaction: Transaction
      readonly failures: Failures
    }
  | {
      readonly kind: 'undecided'
      /** The next step, for the client. */
      readonly message: string
      /** When to try again, in milliseconds. */
      readonly retryAfterMs: number
    }

/**
 * The outcome of running a transaction's scripts.
 *
 * - `malformed`: the bytes do not decode; `message` says where decoding stopped.
 * - `faulty-redeemers`: no script ran, because those of the redeemers in `faults` cannot.
 * - `overlapping-outputs`: the caller provides outputs that differ from those the chain has under the same
 *   references.
 * - `busy`: too many evaluations run; the caller may try again.
 * - `evaluated`: the scripts ran; `result` has the execution units or the failure of each redeemer.
 */
export type ScriptEvaluation =
  | { readonly kind: 'malformed'; readonly message: string }
  | {
      readonly kind: 'faulty-redeemers'
      readonly faults: readonly (RedeemerPointer & { readonly fault: RedeemerFault })[]
    }
  | { readonly kind: 'overlapping-outputs'; readonly references: readonly string[] }
  | { readonly kind: 'busy' }
  | { readonly kind: 'evaluated'; readonly transaction: Transaction; readonly result: EvaluationResult }

/** A change of the chain or its mempool. */
export interface ChainChange {
  /**
   * - `block`: a block was appended.
   * - `roll-back`: blocks were undone; `to` is the new tip.
   * - `transaction`: transactions entered the mempool.
   * - `dropped`: transactions left the mempool, or an undone block, without entering another block.
   */
  readonly type: 'block' | 'roll-back' | 'transaction' | 'dropped'
  readonly to?: ChainTip
}

/** The chain that the Blockfrost, Kupo and Ogmios APIs need. */
export interface ChainView {
  readonly parameters: ProtocolParameters
  readonly slots: SlotConfig
  readonly networkMagic: number
  /** 0 for every test network, 1 for mainnet. */
  readonly networkId: number
  /** Stands for the block before the first one. */
  readonly genesisHash: string
  /** Largest total size of the transactions in a block, in bytes. */
  readonly maxBlockSize: number
  /** Number of blocks that can be rolled back. */
  readonly securityParameter: number

  /** The slot of the current time, at least the slot of the tip. */
  currentSlot(): bigint
  /** The newest block, or genesis. */
  tip(): Awaitable<ChainTip>
  /** The block at a height or with a hash; undefined for genesis, unknown blocks and pruned empty blocks. */
  block(at: number | string): Awaitable<ChainBlock | undefined>
  /** The lowest block above a height. */
  blockAfter(height: number): Awaitable<ChainBlock | undefined>
  /** The newest closed block whose slot is not above this one, or genesis. */
  blockUntil(slot: bigint): Awaitable<ChainTip>
  /**
   * The slot up to which outputs, datums and scripts are found without a wait: below that of the tip while an
   * index is behind.
   */
  indexedSlot(): Awaitable<bigint>
  /** 64 hex digits that change with everything that reads answer, but for the slot of an open block. */
  version(): Awaitable<string>
  /** Transactions of a block, in block order or, newest first, the other way round. */
  blockTransactions(hash: string, part: ListPart): Awaitable<readonly ChainTransaction[]>
  /** A transaction by id; `place` is absent while the transaction is in the mempool. */
  transaction(
    hash: string,
  ): Awaitable<{ readonly transaction: ChainTransaction; readonly place?: Place } | undefined>
  /**
   * Those of these transactions that the ledger accepted, by id. If one that spent an output is missing, it
   * counts as undone, and Kupo breaks the answer off.
   */
  transactions(hashes: readonly string[]): Awaitable<ReadonlyMap<string, Transaction>>
  /** Transactions that the ledger accepted and that are on no block of this chain, in order of acceptance. */
  mempool(part: ListPart): Awaitable<readonly MempoolEntry[]>
  /** Outputs of the confirmed chain. */
  outputs(query: ChainOutputQuery, part: ListPart): Awaitable<readonly ChainOutput[]>
  /**
   * All of these outputs as they are when the first page is read, in pages that are read one after the other.
   */
  outputPages(
    query: ChainOutputQuery,
    order: NonNullable<ListPart['order']>,
  ): AsyncIterable<readonly ChainOutput[]>
  /** Transactions that pay to a holder or spend from it; with a unit, those whose outputs hold it. */
  history(
    query: HolderQuery | Required<Pick<ChainOutputQuery, 'unit'>>,
    part: ListPart,
    range?: BlockRange,
  ): Awaitable<readonly AddressTransaction[]>
  /** Sums over the blocks of two heights and those between them. */
  totals(first: number, last: number): Awaitable<BlockTotals>
  /** Ids of valid transactions whose metadata has a label. @param label 64 bits without sign */
  labelled(label: bigint, part: ListPart): Awaitable<readonly string[]>
  /** The labels of metadata with the number of their transactions; `oldest-first` is the ascending order. */
  labels(part: ListPart): Awaitable<readonly { readonly label: bigint; readonly count: number }[]>
  /**
   * Units ever minted, by their first mint, with the quantity that is left: 0 once burnt.
   *
   * @param policy its id in hex; undefined: under any policy
   */
  assets(
    policy: string | undefined,
    part: ListPart,
  ): Awaitable<readonly { readonly unit: string; readonly quantity: bigint }[]>
  /** An asset by its unit, if it was ever minted or the chain began with it. */
  asset(unit: string): Awaitable<MintedAsset | undefined>
  /** The changes of the supply of an asset, each transaction once. */
  mints(unit: string, part: ListPart): Awaitable<readonly AssetMint[]>
  /** True if any output was ever sent to the address. @param address its bytes in hex */
  knowsAddress(address: string): Awaitable<boolean>
  /**
   * Those of the outputs that are unspent after applying the mempool: what a chained transaction can spend.
   */
  pendingOutputs(references: readonly string[]): Awaitable<UtxoView>
  /** Those of these datums and redeemers' data by hash that an output or a witness ever contained. */
  datums(hashes: readonly string[]): Awaitable<ReadonlyMap<string, Uint8Array>>
  /** The script with a hash, if an output or a witness ever contained it. */
  script(hash: string): Awaitable<Script | undefined>
  /** The hashes of such scripts, by their first transaction. */
  scripts(part: ListPart): Awaitable<readonly string[]>
  /** The redeemers for a script in valid transactions. @param script its hash, 56 hex digits */
  redeemers(script: string, part: ListPart): Awaitable<readonly ChainRedeemer[]>
  /** The deposit of a registered stake credential, in lovelace; undefined if it is not registered. */
  stakeDeposit(credential: Credential): Awaitable<bigint | undefined>
  /** The registrations of a stake credential and their ends. */
  registrations(credential: Credential, part: ListPart): Awaitable<readonly StakeRegistration[]>
  /** Valid transactions that withdraw from an account, each zero lovelace: there are no rewards. */
  withdrawals(credential: Credential, part: ListPart): Awaitable<readonly AddressTransaction[]>

  /** Submits a transaction, given as CBOR, and waits for its verdict. */
  submit(cbor: Uint8Array): Promise<SubmitResult>
  /**
   * Runs the scripts of a transaction, ignoring the budgets that its redeemers declare.
   *
   * @param additional outputs that the chain does not have, by output reference
   * @param signal ends the wait for scripts, because the client has left; the result is then `busy`
   * @param prefersAdditional whether they replace outputs of the chain that differ from them, which are
   *   `overlapping-outputs` otherwise
   */
  evaluate(
    cbor: Uint8Array,
    additional: ReadonlyMap<string, TransactionOutput>,
    signal?: AbortSignal,
    prefersAdditional?: boolean,
  ): Promise<ScriptEvaluation>
  /**
   * Calls the listener after each change.
   *
   * @returns a function that ends the subscription
   */
  subscribe(listener: (change: ChainChange) => void): () => void
}
