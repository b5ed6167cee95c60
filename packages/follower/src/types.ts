import type {
  Archive,
  BlockError,
  BlockRules,
  Deposit,
  EventSource,
  Header,
  WritableArchive,
} from '@ratatosk/block'
import type { OutputReference } from '@ratatosk/ledger'
import type { Log } from '@ratatosk/ports'
import type { TrieView } from '@ratatosk/trie'
import type { BodyBudget } from './body-budget.js'
import type { EvidenceFolder } from './evidence.js'

/** A snapshot of the state queue. */
export interface ChainState {
  /** The confirmed state. Its header hash is zeros until the first merge. */
  readonly confirmed: { readonly headerHash: Uint8Array }
  /** The headers in the state queue, the oldest first. */
  readonly blocks: readonly Header[]
}

/** The state queue on layer 1. */
export interface QueueReader {
  /** Rejects when layer 1 cannot be read, or the queue is broken. */
  read(signal: AbortSignal): Promise<ChainState>
}

/** A genesis output of the ledger. */
export interface GenesisUtxo {
  readonly reference: OutputReference
  /** CBOR. */
  readonly output: Uint8Array
}

/** A committed block that breaks a rule, with what a fraud proof needs. */
export interface InvalidBlock {
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  readonly height: bigint
  readonly header: Header
  /** CBOR in block order. */
  readonly transactions: readonly Uint8Array[]
  /** Those that the block credits, ascending by id; none by default. */
  readonly deposits?: readonly Deposit[]
  /** Hash of the bridge's script, 28 bytes, in a deployment that has one. */
  readonly bridge?: Uint8Array | undefined
  /** The broken rule. */
  readonly error: BlockError
  /** The unspent outputs before the block: output reference CBOR → output CBOR. */
  readonly before: TrieView
  /**
   * The CBOR of an output that was unspent before the block; undefined if it was not.
   *
   * @param key output reference CBOR
   * @throws {FollowerError} `FOLLOWER_STATE_INCOMPLETE`
   */
  outputBefore(key: Uint8Array): Uint8Array | undefined
  /**
   * The unspent outputs after its transactions, whatever its header says; absent if they cannot be applied to
   * those before.
   */
  readonly afterTransactions?: TrieView
}

/** A committed block whose body no peer serves. */
export type UnavailableBlock = Pick<InvalidBlock, 'headerHash' | 'height' | 'header'>

/** Options of `createFollower`. */
export interface FollowerOptions {
  /** Reads the state queue on layer 1. */
  chain: QueueReader
  /** Base URLs of archivist APIs, such as `http://sequencer:3000/archivist`. */
  peers: readonly string[]
  /** Blocks of this process, which are read before a peer is asked; with it, `peers` may be empty. */
  own?: Pick<Archive, 'byHash' | 'byHeight' | 'body'>
  /** Where valid blocks are archived; `Store.archive` of `@ratatosk/store` is one. */
  archive: WritableArchive
  /** The genesis outputs of the ledger. */
  genesis: readonly GenesisUtxo[]
  /** The rules that every transaction must keep: those of the validation workers. */
  rules: BlockRules
  /**
   * Reads the deposits of layer 1, in a deployment with a bridge: `rules.bridge`. A block that is not merged
   * credits just those of its time. Without this, the header's root alone says which.
   */
  events?: EventSource
  log: Log
  /**
   * Folder of the unspent outputs. Without one they are in memory, and each start reads every archived body.
   */
  trieDir?: string
  /**
   * Keeps invalid blocks, and the bodies behind an unprovable one; see `openEvidence`. Without it they are
   * not kept. Bodies are read from there before a peer is asked.
   */
  evidence?: Pick<EvidenceFolder, 'keep' | 'keepBody' | 'body'>
  /**
   * Called with an invalid block of the state queue, again after a restart, or if the block is gone and comes
   * back. The unspent outputs do not change until the promise resolves; it must not reject.
   *
   * `unprovable`: nothing removes the block. The follower then judges the blocks behind it, as if it had kept
   * the rules, so that it hides no fraud; it archives none of them.
   *
   * @param signal aborts when layer 1 no longer shows the block there, or the follower closes
   */
  watch?: (block: InvalidBlock, signal: AbortSignal) => Promise<'unprovable' | undefined>
  /**
   * A further source of bodies, called for each block that no peer serves, with each read of layer 1.
   *
   * @returns CBOR of the transactions as the operator has shown them, in block order: if they do not have the
   *   header's root, the block is invalid; undefined while they are not known
   */
  unavailable?: (block: UnavailableBlock, signal: AbortSignal) => Promise<readonly Uint8Array[] | undefined>
  /** Called when a body has come: `unavailable` may have been called with its block before. */
  available?: (headerHash: Uint8Array) => void
  /** Milliseconds between two reads of layer 1. @defaultValue 5000 */
  pollMs?: number
  /** Maximum number of concurrent body requests. @defaultValue 4 */
  concurrency?: number
  /** Maximum size of a body in bytes; a peer that sends more backs off. @defaultValue 67121152 */
  maxBodyBytes?: number
  /**
   * Of bytes, for all bodies of others that this process downloads and derives; of
   * `createBodyBudget`. @defaultValue one for this follower alone
   */
  budget?: BodyBudget
  /** Milliseconds in which a request must bring 64 KiB or end. @defaultValue 10000 */
  stallMs?: number
  /** Milliseconds that a request may take. @defaultValue 300000 */
  timeoutMs?: number
  /**
   * Backoff of a peer after its first failure, in milliseconds; doubles with each, up to 5 minutes.
   *
   * @defaultValue 1000
   */
  backoffMs?: number
}

/** A committed block that breaks a rule. */
export interface InvalidBlockStatus {
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  readonly height: bigint
  /** The broken rule. */
  readonly reason: string
  /** Position of the transaction that breaks the rule, from 0; absent when the block as a whole does. */
  readonly position?: number
  /** Path of the evidence. */
  readonly evidence?: string
  readonly foundAt: Date
}

/** The state of a follower. */
export interface FollowerStatus {
  /** Height of the archive; 0 when it is empty. */
  readonly height: bigint
  /** Height of the newest block on layer 1; absent while no peer has a header that leads to it. */
  readonly target?: bigint
  /** Number of blocks in the state queue; absent until layer 1 is read. */
  readonly queued?: number
  /** When the archive last had every block that layer 1 showed; absent before the first time. */
  readonly syncedAt?: Date
  /** Why the follower does not advance; absent when it does. */
  readonly trouble?: string
  /**
   * The first invalid block that layer 1 shows; absent when there is none. Neither it nor any later block is
   * archived.
   */
  readonly invalid?: InvalidBlockStatus
  /** Number of invalid blocks found since the start. */
  readonly invalidBlocks: number
}

/** Keeps an archive in step with the state queue until it is closed. */
export interface Follower {
  /** The current state. Does not read layer 1. */
  status(): FollowerStatus
  /**
   * Resolves when the archive has every block that layer 1 showed in a read that began after this call.
   * Rejects when closed first.
   */
  synced(): Promise<void>
  /** Ends running work and keeps the archive. Safe to call twice. */
  close(): Promise<void>
}
