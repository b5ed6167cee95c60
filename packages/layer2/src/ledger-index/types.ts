import type { OutputConditions } from '@ratatosk/chain-apis'
import type { SharedDriver } from '@ratatosk/database'
import type { RedeemerPurpose, Script } from '@ratatosk/ledger'
import type { ExplorerOutput } from '@ratatosk/ports'

/** An accepted transaction, or a deposit of layer 1. */
export interface FollowedTransaction {
  /** Its position in the order of acceptance, from 1. */
  readonly sequence: bigint
  /** 32 bytes. */
  readonly id: Uint8Array
  /** Of a deposit: the CBOR of its output, which is output 0 of the id. */
  readonly cbor: Uint8Array
  readonly deposit?: boolean
}

/** The source of the index: `store.changes` of `@ratatosk/store` satisfies it. */
export interface IndexSource {
  /**
   * Accepted transactions, and deposits, with a sequence above `after`, oldest first, at most `limit`.
   * Dropped ones are not among them.
   */
  accepted(after: bigint, limit: number): Promise<readonly FollowedTransaction[]>
  /** The undone transactions, oldest first, at most `limit`. Without transaction: everything was undone. */
  dropped(
    after: bigint,
    limit: number,
  ): Promise<
    readonly {
      readonly number: bigint
      readonly transaction: { readonly sequence: bigint; readonly id: Uint8Array } | undefined
    }[]
  >
  /** How many outputs the ledger was started with; undefined before the genesis was applied. */
  genesisOutputs(): Promise<number | undefined>
}

/** An output that the ledger was started with. */
export interface GenesisEntry {
  readonly reference: { readonly transactionId: Uint8Array; readonly index: number }
  /** CBOR of the transaction output. */
  readonly output: Uint8Array
}

/** A range of accept sequences. */
export interface SequenceRange {
  /** Only later ones. */
  readonly after?: bigint
  /** Only earlier ones, and this one. */
  readonly until?: bigint
  /** These of them are not in the range. */
  readonly without?: readonly bigint[]
  /** Others that are in the range too. */
  readonly others?: readonly bigint[]
}

/** Selects outputs. An output must match every field given; an empty query matches all of them. */
export interface OutputQuery extends OutputConditions<Uint8Array> {
  /** Asset name, 0 to 32 bytes; only with `policy`. */
  readonly assetName?: Uint8Array
  readonly references?: readonly { readonly transactionId: Uint8Array; readonly index: number }[]
  /** Sequences that produced the outputs; all of them are in the ledger that is asked about. */
  readonly produced?: SequenceRange
  /** Sequences that spent the outputs: only spent ones. */
  readonly spentBy?: Pick<SequenceRange, 'after' | 'until'>
}

/** A part of a list of outputs. */
export interface OutputPart extends IndexPart {
  /**
   * The output before the first of the part: pages that begin so cost the same, however many there are before
   * them.
   */
  readonly after?: Pick<IndexedOutput, 'sequence' | 'index'>
}

/** A part of a list. */
export interface IndexPart {
  /** How many entries to skip. */
  readonly offset: number
  /** The most entries to return; may be `Infinity`. */
  readonly limit: number
  /** By order of acceptance, then by output index. Default `oldest-first`. */
  readonly order?: 'oldest-first' | 'newest-first'
}

/**
 * The ledger after a certain transaction. Without `sequence`: after the newest one that the index knows. With
 * the last sequence of a block, the ledger after that block; with 0n, the genesis.
 */
export interface At {
  readonly sequence?: bigint
  /**
   * Later sequences, ascending, of deposits that are in that ledger too: their block was built after its
   * transactions were accepted. Lists of assets, their quantities, and lists of scripts
   * do not count them.
   */
  readonly credited?: readonly bigint[]
  /** Earlier sequences of deposits that are not in that ledger: they waited for a later block. */
  readonly waiting?: readonly bigint[]
}

/** Whose history is asked for: one address, one payment credential, or one asset. */
export type HistoryQuery =
  | Required<Pick<OutputQuery, 'address'>>
  | Required<Pick<OutputQuery, 'paymentCredential'>>
  | Required<Pick<OutputQuery, 'policy' | 'assetName'>>

/** A redeemer of a valid transaction. */
export interface IndexedRedeemer {
  /** Id of the transaction. */
  readonly id: Uint8Array
  readonly purpose: RedeemerPurpose
  readonly index: number
  /** Blake2b-256 of its data. */
  readonly data: Uint8Array
  readonly memory: bigint
  readonly steps: bigint
}

/** Sums over transactions, in lovelace. */
export interface Totals {
  readonly transactions: number
  readonly output: bigint
  readonly fees: bigint
}

/** A transaction that the index knows, or a deposit, which is valid. */
export interface IndexedTransaction {
  readonly sequence: bigint
  /** 32 bytes. */
  readonly id: Uint8Array
  /** False if its scripts failed and it spent its collateral. */
  readonly valid: boolean
}

/** An output that the index knows. */
export interface IndexedOutput extends ExplorerOutput {
  /** Whether it returns the collateral of a transaction whose scripts failed. */
  readonly collateralReturn: boolean
  readonly spent?: IndexedTransaction
}

/** The queries of the index. Each answer is one statement, so it shows one state of the ledger. */
export interface IndexQueries {
  /** Outputs, by age. A query without any field reads the whole ledger: limit it. */
  outputs(query: OutputQuery, part: OutputPart, at?: At): Promise<IndexedOutput[]>
  /** The transaction with an id (32 bytes). Its block is what the store says of its sequence. */
  transaction(id: Uint8Array): Promise<IndexedTransaction | undefined>
  /**
   * Transactions that spend from a holder or pay to it, each once; those of an asset have it in an output.
   *
   * @param since only what came after this ledger
   */
  history(query: HistoryQuery, part: IndexPart, at?: At, since?: At): Promise<IndexedTransaction[]>
  /** Sums over the transactions, without deposits, after a sequence and up to another. Default: over all. */
  totals(after?: bigint, until?: bigint): Promise<Totals>
  /** Whether any output was ever at the address. @param address its bytes */
  knowsAddress(address: Uint8Array, at?: At): Promise<boolean>
  /** Valid transactions whose metadata has a label. @param label 64 bits without sign */
  labelled(label: bigint, part: IndexPart, at?: At): Promise<IndexedTransaction[]>
  /** The labels of metadata in ascending or descending order, each with the number of its transactions. */
  labels(part: IndexPart, at?: At): Promise<{ readonly label: bigint; readonly count: number }[]>
  /**
   * Assets ever minted, by their first mint, with the quantity that is left: 0 once burnt.
   *
   * @param policy undefined: under any policy
   */
  assets(
    policy: Uint8Array | undefined,
    part: IndexPart,
    at?: At,
  ): Promise<{ readonly policy: Uint8Array; readonly name: Uint8Array; readonly quantity: bigint }[]>
  /**
   * An asset that was ever minted: how much is left, how often it was minted or burnt, and the ids of the
   * first and the last transaction that did so. Each genesis output that holds it counts as a mint, as does a
   * deposit; to leave layer 2 counts as to be burnt.
   */
  asset(
    policy: Uint8Array,
    name: Uint8Array,
    at?: At,
  ): Promise<
    | {
        readonly quantity: bigint
        readonly mints: number
        readonly first: Uint8Array
        readonly last: Uint8Array
        /** The last one that minted it with metadata of label 721. */
        readonly described?: Uint8Array
      }
    | undefined
  >
  /** The mints and burns of an asset. */
  mints(
    policy: Uint8Array,
    name: Uint8Array,
    part: IndexPart,
    at?: At,
  ): Promise<{ readonly id: Uint8Array; readonly quantity: bigint }[]>
  /** Plutus data by their hashes (32 bytes), as far as witnesses, redeemers or outputs contained them. */
  datums(
    hashes: readonly Uint8Array[],
  ): Promise<readonly { readonly hash: Uint8Array; readonly bytes: Uint8Array }[]>
  /** A script by its hash (28 bytes), if a witness, auxiliary data or an output contained it. */
  script(hash: Uint8Array): Promise<Script | undefined>
  /** The hashes of such scripts, by the first transaction with each, then by hash. */
  scripts(part: IndexPart, at?: At): Promise<Uint8Array[]>
  /** The redeemers of a script, by transaction, then as its witnesses have them. @param script its hash */
  redeemers(script: Uint8Array, part: IndexPart, at?: At): Promise<IndexedRedeemer[]>
  /** Valid transactions that withdraw from an account. @param stakeCredential the hash of its script */
  withdrawals(stakeCredential: Uint8Array, part: IndexPart, at?: At): Promise<IndexedTransaction[]>
}

/** How far an index has followed. */
export interface Progress {
  /** The accept sequence of the newest transaction that it has followed. */
  readonly sequence: bigint
  /**
   * The newest drop that it has undone. If it is another one, or the sequence is lower, what was read before
   * does not fit to what is read after.
   */
  readonly dropNumber: bigint
  /** Whether it has the genesis outputs. */
  readonly genesis: boolean
}

/** An index that follows acceptance. */
export interface LedgerIndex extends IndexQueries {
  /**
   * Resolves when the index has everything that was accepted, and has undone everything that was dropped,
   * before the call. Then everything accepted before the call is visible.
   *
   * @param sequence with it, resolves as soon as the index has this sequence, whatever else was accepted
   * @throws IndexError `INDEX_BEHIND` if that takes longer than `waitMs`
   */
  caughtUp(sequence?: bigint): Promise<void>
  /** How far the index has followed, also in other processes. */
  progress(): Promise<Progress>
  /** Milliseconds since the index last had everything that was accepted. */
  lagMs(): number
  /** Polls now, unless `busy`. Never rejects. */
  wake(): void
  /** Empties the index and follows again from the start. Other processes that follow notice. */
  rebuild(): Promise<void>
  /** Stops to follow; waits for the running step. */
  close(): Promise<void>
}

export interface IndexOptions {
  /** `store.database` of `@ratatosk/store` satisfies it. */
  readonly database: SharedDriver
  /**
   * Schema of the tables, which nothing else uses. It is created if it does not exist. A plain identifier.
   */
  readonly schema: string
  readonly source: IndexSource
  /** Hash of the bridge's script, 28 bytes: outputs at its enterprise address leave layer 2. */
  readonly bridge?: Uint8Array | undefined
  /** The genesis outputs, if the source says that the ledger has them. */
  readonly genesis: readonly GenesisEntry[]
  /**
   * Poll interval in milliseconds; it grows to ten times as much while nothing is accepted. `caughtUp` and
   * `wake` poll at once. Default 100.
   */
  readonly pollMs?: number
  /** Transactions per step. Default 1,000. */
  readonly batchSize?: number
  /** How long `caughtUp` waits, in milliseconds. Default 10,000. */
  readonly waitMs?: number
  /** Whether each step is flushed to disk at once, as for `readByReplica`. Default false. */
  readonly flush?: boolean
  /**
   * Whether something has work that must not wait for the index, such as validation with a backlog. While it
   * has, the index polls only while a caller waits in `caughtUp`, and every `waitMs` / 2. Default:
   * nothing has.
   */
  readonly busy?: () => boolean
  /** Called when a poll fails; the index retries. */
  readonly onError?: (error: unknown) => void
}
