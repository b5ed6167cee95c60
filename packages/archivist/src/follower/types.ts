import type { Header } from '@ratatosk/contracts'
import type { OutputReference } from '@ratatosk/ledger'
import type { Archive, ArchivedBlock } from '../archive.js'

/** What layer 1 shows at one moment. */
export interface ChainState {
  /** The confirmed state; its hash is zeros while nothing has been merged. */
  readonly confirmed: { readonly headerHash: Uint8Array }
  /** The headers in the state queue, the oldest first. */
  readonly blocks: readonly Header[]
}

/** The state queue of layer 1. */
export interface Chain {
  /** Rejects where layer 1 cannot be read, or what it shows is no sound queue. */
  read(signal: AbortSignal): Promise<ChainState>
}

/** A block that is to be archived. */
export interface NewArchivedBlock extends ArchivedBlock {
  /** Canonical CBOR. */
  readonly body: Uint8Array
}

/** What the follower asks of an archive besides reading it; `Store.archive` is one. */
export interface WritableArchive extends Archive {
  /** The block of the greatest height. */
  tip(): Promise<ArchivedBlock | undefined>
  /** Appends blocks, durably and as a whole; rejects where the first does not follow upon the tip. */
  put(blocks: readonly NewArchivedBlock[]): Promise<void>
  /** Marks every block up to this height as merged. */
  markMerged(height: bigint): Promise<void>
  /** Takes out every block from this height on. */
  removeFrom(height: bigint): Promise<void>
}

/** An output that the ledger began with. */
export interface GenesisOutput {
  readonly reference: OutputReference
  /** CBOR. */
  readonly output: Uint8Array
}

/** The part of a pino logger that is used. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface FollowerOptions {
  chain: Chain
  /** Base addresses of archivist interfaces that have bodies, such as `http://sequencer:3000/archivist`. */
  peers: readonly string[]
  archive: WritableArchive
  /** The outputs that the ledger began with. */
  genesis: readonly GenesisOutput[]
  log: Log
  /** Folder of the trie of unspent outputs. Without one it is in memory, and every start reads all bodies of the archive. */
  trieDir?: string
  /** From one look at layer 1 to the next, in milliseconds; 5,000 unless told. */
  pollMs?: number
  /** Bodies that are on their way at a time; 4 unless told. */
  concurrency?: number
  /** A longer body is refused, and its peer with it; 128 MiB unless told. */
  maxBodyBytes?: number
  /** A peer that sends less than 64 KiB in this time, in milliseconds, and has not ended, is given up; 10,000 unless told. */
  stallMs?: number
  /** How long a peer is left alone after its first failure, in milliseconds; doubles with each, up to 5 minutes. 1,000 unless told. */
  backoffMs?: number
}

/** Where a follower stands. */
export interface FollowerStatus {
  /** The height of the archive; 0: empty. */
  readonly height: bigint
  /** Height of the newest block that layer 1 has shown; absent until that is known. */
  readonly target?: bigint
  /** When the archive last had all that layer 1 showed; absent: not yet. */
  readonly syncedAt?: Date
  /** Why it does not get on; absent where it does. */
  readonly trouble?: string
}

/** Keeps an archive like layer 1's state queue, until it is closed. */
export interface Follower {
  status(): FollowerStatus
  /** Resolves when the archive has all that layer 1 showed at a look that began after this call; rejects when it is closed before. */
  synced(): Promise<void>
  /** Ends what is under way; whatever was archived stays. */
  close(): Promise<void>
}
