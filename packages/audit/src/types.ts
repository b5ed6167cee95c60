/** A header that a party says to have. */
export interface NamedHeader {
  /** 28 bytes: the name of the block. */
  readonly headerHash: Uint8Array
  /** Plutus data CBOR, the preimage of `headerHash` if the party is honest. */
  readonly header: Uint8Array
}

/** The state queue as layer 1 shows it. */
export interface QueueReading {
  /** Why the list of elements is broken; absent if it is sound. */
  readonly fault?: string
  /** Absent if the queue has no root, or more than one. */
  readonly confirmed?: {
    /** 28 bytes; zeros before the first merge. */
    readonly headerHash: Uint8Array
    /** Root of the unspent outputs, 32 bytes. */
    readonly utxosRoot: Uint8Array
    /** POSIX milliseconds. */
    readonly endTime: bigint
  }
  /** The blocks that are not merged, oldest first; the hash is from the name of the element's token. */
  readonly blocks: readonly NamedHeader[]
  /** The bridge at the moment of the queue; without it, the treasury is not audited. */
  readonly bridge?: BridgeReading
}

/** Lovelace, and quantities by unit: policy and asset name in hex, joined. */
export interface BridgedValue {
  readonly lovelace: bigint
  readonly assets: ReadonlyMap<string, bigint>
}

/** A deposit that is at the bridge. */
export interface HeldDeposit {
  /** 32 bytes. */
  readonly id: Uint8Array
  /** Of the output at the bridge, without the token of the event. */
  readonly value: BridgedValue
  /** The output of layer 2 that it asks for, CBOR. */
  readonly output: Uint8Array
}

/** A settlement that is at the bridge. */
export interface OpenSettlement {
  /** 28 bytes: the block whose withdrawals it owes. */
  readonly headerHash: Uint8Array
  /** Of the map of what is left to be paid, 32 bytes. */
  readonly root: Uint8Array
}

/** The outputs at the bridge, of one slot of layer 1. */
export interface BridgeReading {
  /** Everything up to this slot was read. */
  readonly slot: bigint
  /** The policies whose assets can be deposited: 56 hex digits each. */
  readonly bridged: readonly string[]
  /** Money that is no longer that of a single deposit. */
  readonly reserves: BridgedValue
  readonly deposits: readonly HeldDeposit[]
  readonly settlements: readonly OpenSettlement[]
}

/** Reads the state queue on layer 1. Rejects when layer 1 cannot be read. */
export interface QueueSource {
  read(signal: AbortSignal): Promise<QueueReading>
}

/** An archive of blocks, which is not trusted. {@link openArchivist} reads one over HTTP. */
export interface BlockSource {
  /**
   * @param id a height from 1, or a header hash
   * @returns undefined if the archive has no such block
   */
  header(id: number | Uint8Array, signal: AbortSignal): Promise<NamedHeader | undefined>
  /** The canonical CBOR of a body; undefined if the archive does not have it. */
  body(headerHash: Uint8Array, signal: AbortSignal): Promise<Uint8Array | undefined>
}

/** Where a node says that a transaction is. */
export interface NodePlace {
  /** `status` of `GET /tx/statuses`. */
  readonly status: string
  /** If it is in a block. */
  readonly block?: {
    readonly height: number
    /** 56 hex digits. */
    readonly headerHash: string
  }
}

/** The public HTTP of a node whose answers are compared with what is derived. Hashes are lower-case hex. */
export interface NodeSource {
  /** Header hashes of the unmerged blocks, oldest first. */
  queue(signal: AbortSignal): Promise<readonly string[]>
  /** Transaction ids of a block, in order. */
  transactionsOf(headerHash: string, signal: AbortSignal): Promise<readonly string[]>
  /** The places of at most 100 transactions, in their order. */
  placesOf(transactionIds: readonly string[], signal: AbortSignal): Promise<readonly NodePlace[]>
  /**
   * Every unspent output that the node holds, those that its mempool makes included. They may move while they
   * are read.
   *
   * @param derived CBOR of the outputs that are expected, at whose addresses it can look
   */
  unspentOutputs(derived: Iterable<Uint8Array>, signal: AbortSignal): AsyncIterable<HeldOutput>
  /** CBOR of a transaction; undefined if the node does not have it. */
  transaction(transactionId: string, signal: AbortSignal): Promise<Uint8Array | undefined>
  /** Id of the transaction that spent an output, if it is known. @param key transaction id, `#`, index */
  spenderOf(key: string, signal: AbortSignal): Promise<string | undefined>
}

/** An output that a node holds. */
export interface HeldOutput {
  /** Transaction id of 64 hex digits, `#`, the index. */
  readonly key: string
  /** CBOR, if the node shows it. */
  readonly output?: Uint8Array
}

/** An output that the ledger begins with. */
export interface GenesisOutput {
  readonly reference: { readonly transactionId: Uint8Array; readonly index: number }
  /** CBOR. */
  readonly output: Uint8Array
}

/** A block that is judged, whose body has the root of its header. */
export interface JudgedBlock {
  /** Plutus data CBOR. */
  readonly header: Uint8Array
  /** CBOR of each, in order. */
  readonly transactions: readonly Uint8Array[]
  /** The deposits that it credits, and its fee output; ascending by id. */
  readonly deposits: readonly { readonly id: Uint8Array; readonly output: Uint8Array }[]
  /** CBOR of an output that is unspent before the block. @param key transaction id, `#`, index */
  unspent(key: string): Uint8Array | undefined
}

/** The first rule that a block breaks. */
export interface RuleBreach {
  readonly message: string
  /** Of the transaction that breaks it, from 0. */
  readonly position?: number
}

/**
 * Judges the rules of the ledger and of layer 2 that the audit does not know, such as signatures and scripts.
 * Rejects if it cannot tell.
 */
export type BlockJudge = (block: JudgedBlock, signal: AbortSignal) => Promise<RuleBreach | undefined>

/** How far an audit is. */
export interface AuditProgress {
  /** Height of the last block that was audited. */
  readonly height: number
  readonly transactions: number
}

/** Options of {@link audit}. */
export interface AuditOptions {
  readonly layer1: QueueSource
  readonly archivist: BlockSource
  readonly genesis: Iterable<GenesisOutput>
  /**
   * The bridge's script, in a deployment that has one: its hash of 28 bytes, or its enterprise address.
   * Outputs there leave layer 2.
   */
  readonly bridge?: Uint8Array | undefined
  /**
   * Lovelace of the genesis that reserves at the bridge back. @defaultValue 0n: no one has deposited it, and
   * it has no claim
   */
  readonly backed?: bigint
  /** Judges what the audit itself does not: without it, no block is. */
  readonly judge?: BlockJudge
  readonly node?: NodeSource
  /** Ids of transactions that a node has accepted, 64 hex digits. Each must be in exactly one place. */
  readonly accepted?: Iterable<string> | AsyncIterable<string>
  /** @defaultValue 1000; further findings are counted only */
  readonly maxFindings?: number
  /**
   * How often layer 1 and the archive are read again while they disagree about the newest blocks, which move
   * while they are read. @defaultValue 10
   */
  readonly readings?: number
  /** Milliseconds between these readings. @defaultValue 1000 */
  readonly settleMs?: number
  readonly onProgress?: (progress: AuditProgress) => void
  /** Aborts the audit, which rejects with its reason. */
  readonly signal?: AbortSignal
}

/**
 * The kind of a fault.
 *
 * | kind | meaning |
 * | --- | --- |
 * | `queue-broken` | the elements on layer 1 are not one list |
 * | `confirmed-state` | the confirmed state is not that of the block that it names |
 * | `block-missing` | layer 1 has a block that the archive lacks, or has in another place |
 * | `block-extra` | the archive has a block that layer 1 does not have |
 * | `header` | a header does not decode, or does not have its hash |
 * | `version` | a header states a block version that this package does not know |
 * | `link` | a header does not name the block before it |
 * | `times` | a block does not begin where the one before it ends, or does not end later |
 * | `prev-utxos-root` | a header does not begin with the outputs after the block before it |
 * | `utxos-root`, `transactions-root` | the root is not the one that follows from the transactions |
 * | `deposits-root`, `withdrawals-root` | the root is not that of the deposits of the body, or of what
 *   leaves; without a bridge, not that of the empty map |
 * | `deposit` | a deposit is not an output, or is credited twice |
 * | `fees` | with a bridge, a block does not pay its fees to its operator |
 * | `body-missing`, `body` | the archive lacks the body, or its bytes do not follow from its transactions |
 * | `transaction` | a transaction does not decode, or has bytes that its body does not fix |
 * | `double-spend` | an output is spent that an earlier transaction has spent |
 * | `unknown-input` | an output is spent or read that was never made, or is made later |
 * | `value` | a transaction makes or destroys value |
 * | `supply` | the unspent outputs do not hold genesis, mints, deposits and fee outputs, less fees and
 *   withdrawals |
 * | `treasury` | the bridge on layer 1 holds less than layer 2 has a claim on, at the confirmed state or at
 *   the newest block; or it has a deposit that is credited with another output, or a settlement of no merged
 *   block |
 * | `two-places` | a transaction is in two places |
 * | `lost` | an accepted transaction, or one whose outputs a node holds, is in no place |
 * | `node-queue`, `node-block` | a node shows another state queue, or other transactions of a block |
 * | `node-outputs` | a node holds other unspent outputs than chain and mempool lead to |
 * | `rule` | a transaction breaks a rule of the ledger or of layer 2, by the judge that was given |
 */
export type FindingKind =
  | 'queue-broken'
  | 'confirmed-state'
  | 'block-missing'
  | 'block-extra'
  | 'header'
  | 'version'
  | 'link'
  | 'times'
  | 'prev-utxos-root'
  | 'utxos-root'
  | 'transactions-root'
  | 'deposits-root'
  | 'withdrawals-root'
  | 'deposit'
  | 'fees'
  | 'body-missing'
  | 'body'
  | 'transaction'
  | 'double-spend'
  | 'unknown-input'
  | 'value'
  | 'supply'
  | 'treasury'
  | 'two-places'
  | 'lost'
  | 'node-queue'
  | 'node-block'
  | 'node-outputs'
  | 'rule'

/** One thing that is wrong. */
export interface Finding {
  readonly kind: FindingKind
  /** One sentence. */
  readonly message: string
  readonly expected?: string
  readonly found?: string
  readonly block?: {
    readonly height: number
    /** 56 hex digits. */
    readonly headerHash: string
  }
  readonly transaction?: {
    /** 64 hex digits. */
    readonly id: string
    /** In its block, from 0. */
    readonly position?: number
  }
}

/** The part that could not be audited. */
export interface Unchecked {
  readonly what: string
  readonly why: string
}

/** The result of an audit. */
export interface AuditReport {
  /** `clean`: nothing was found, and everything that was asked for could be read. */
  readonly verdict: 'clean' | 'defective' | 'incomplete'
  readonly findings: readonly Finding[]
  /** Findings beyond `maxFindings`. */
  readonly omittedFindings: number
  readonly unchecked: readonly Unchecked[]
  readonly counts: {
    readonly blocks: number
    /** Blocks up to the confirmed state of layer 1. */
    readonly merged: number
    readonly transactions: number
    /** Accepted transactions that are in no block. */
    readonly waiting: number
    readonly unspentOutputs: number
    readonly bodyBytes: number
  }
  /** Lovelace. */
  readonly lovelace: {
    readonly genesis: bigint
    readonly fees: bigint
    /** Fees that blocks pay to their operators. */
    readonly paid: bigint
    readonly deposited: bigint
    readonly withdrawn: bigint
    readonly unspent: bigint
  }
  /** The bridge at the newest block, in lovelace; absent if it was not compared. */
  readonly treasury?: {
    /** Reserves and credited deposits. */
    readonly held: bigint
    /** Unspent outputs, what is owed, and unpaid fees, less the genesis that no one backs. */
    readonly claims: bigint
    /** Withdrawals that left layer 2 and are not paid. */
    readonly owed: bigint
    /** Deposits that no block has credited. */
    readonly waiting: bigint
    readonly waitingDeposits: number
  }
  /** Assets with a net mint or burn. */
  readonly mintedAssets: number
  /** Root of the unspent outputs after the newest audited block, rebuilt from nothing: 64 hex digits. */
  readonly utxosRoot: string
}
