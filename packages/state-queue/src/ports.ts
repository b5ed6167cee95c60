import type { OperationResult } from '@ratatosk/http'

/** A root unit and the confirmed state in its datum. */
export interface QueueRoot {
  /** `<64 hex digits>#<index>`. */
  readonly outRef: string
  /** Of the block merged last, 28 bytes; zeros before the first. */
  readonly headerHash: Uint8Array
  /** When that block ended, POSIX milliseconds. */
  readonly endTime: bigint
}

/** A block in the list. */
export interface QueuedBlock {
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  /** Counted from the first block of the ledger; absent where this node does not know the block. */
  readonly height?: bigint
  /** POSIX milliseconds, as in the header. */
  readonly startTime: bigint
  /** POSIX milliseconds, as in the header. */
  readonly endTime: bigint
  /** From when on it may be merged, POSIX milliseconds. */
  readonly maturesAt: bigint
}

/** An output with a token of the queue that no link leads to. */
export interface StrayOutput {
  /** `<64 hex digits>#<index>`. */
  readonly outRef: string
  /** Of the block whose token it holds, 28 bytes; absent where the token is no block's. */
  readonly headerHash?: Uint8Array
}

/** The state queue as it stands on layer 1. */
export interface StateQueueView {
  /** One in a sound queue. */
  readonly roots: readonly QueueRoot[]
  /** From the root along the links as far as they lead, the oldest first. */
  readonly blocks: readonly QueuedBlock[]
  /** Outputs with a token of the queue that are neither a root nor in the list. */
  readonly strays?: readonly StrayOutput[]
  /** What keeps the queue from being sound, in a sentence for the log; absent where it is sound. */
  readonly fault?: string
}

/** What `GET /stateQueue` asks. */
export interface StateQueueReader {
  /** @param signal aborts when the client is gone */
  read(signal?: AbortSignal): Promise<StateQueueView>
}

/** The root units on layer 1, and whether they are about to change. */
export interface RootUnits {
  /** Whether an operation that changes the root runs, on whichever node. */
  readonly resetInProgress: boolean
  /** Bech32. */
  readonly stateQueueAddress: string
  /** Policy id and asset name in hex, joined. */
  readonly rootUnit: string
  /** `<64 hex digits>#<index>` of each output that holds a root unit. */
  readonly outRefs: readonly string[]
}

/** What `GET /stateQueue/root-unit-diagnostics` asks. */
export interface RootUnitsReader {
  /** @param signal aborts when the client is gone */
  look(signal?: AbortSignal): Promise<RootUnits>
}

/** What became of a repair: `repaired`, or why not. */
export type RepairResult = OperationResult

/** What `GET /stateQueue/repair-root-units` has done. */
export interface RootUnitsRepair {
  /** Burns the root units where there are several of them. */
  repair(): Promise<RepairResult>
}

/** What `GET /commitment-wallet/balance` asks. */
export interface CommitmentWallet {
  /** @param signal aborts when the client is gone */
  lovelace(signal?: AbortSignal): Promise<bigint>
}
