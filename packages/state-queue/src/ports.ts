import type { OperationResult } from '@ratatosk/ports'
import { Type } from '@sinclair/typebox'

/** A root unit and the confirmed state in its datum. */
export interface StateQueueRoot {
  /** `<64 hex digits>#<index>`. */
  readonly outRef: string
  /** Header hash of the last merged block, 28 bytes; zeros before the first merge. */
  readonly headerHash: Uint8Array
  /** End time of that block, POSIX milliseconds. */
  readonly endTime: bigint
}

/** A block in the list. */
export interface QueuedBlock {
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  /** Number of the block, 1 for the first of the ledger; absent if this node does not know the block. */
  readonly height?: bigint
  /** From the header, POSIX milliseconds. */
  readonly startTime: bigint
  /** From the header, POSIX milliseconds. */
  readonly endTime: bigint
  /** The time from which the block can be merged, POSIX milliseconds. */
  readonly maturesAt: bigint
}

/** An output with a token of the queue that no link leads to. */
export interface StrayOutput {
  /** `<64 hex digits>#<index>`. */
  readonly outRef: string
  /**
   * Header hash of the block whose token the output holds, 28 bytes; absent for any other token of the queue.
   */
  readonly headerHash?: Uint8Array
}

/** The state queue as found on layer 1. */
export interface StateQueueView {
  /** Exactly one in a healthy queue. */
  readonly roots: readonly StateQueueRoot[]
  /** The elements that the links lead to from the root, oldest first. */
  readonly blocks: readonly QueuedBlock[]
  /** Outputs with a token of the queue that are neither a root nor in the list. */
  readonly strays?: readonly StrayOutput[]
  /** The fault of the queue, one sentence for the log; absent without a fault. */
  readonly fault?: string
}

/** Source of `GET /stateQueue`. */
export interface StateQueueReader {
  /** @param signal aborts when the client disconnects */
  read(signal?: AbortSignal): Promise<StateQueueView>
}

/** The root units on layer 1, and whether an operation is about to change them. */
export interface RootUnits {
  /** Whether an operation that changes the root is running, on any node. */
  readonly resetInProgress: boolean
  /** Bech32. */
  readonly stateQueueAddress: string
  /** Policy id and asset name, joined, in hex. */
  readonly rootUnit: string
  /** `<64 hex digits>#<index>` of each output that holds a root unit. */
  readonly outRefs: readonly string[]
}

/** Source of `GET /stateQueue/root-unit-diagnostics`. */
export interface RootUnitsReader {
  /** @param signal aborts when the client disconnects */
  read(signal?: AbortSignal): Promise<RootUnits>
}

/** How a repair ends: `repaired`, or one of the failures of an operation. */
export type RepairResult = OperationResult

/** Carries out `GET /stateQueue/repair-root-units`. */
export interface RootUnitsRepair {
  /** Burns the root units if there is more than one. */
  repair(): Promise<RepairResult>
}

/** Source of `GET /commitment-wallet/balance`. */
export interface CommitmentWallet {
  /** @param signal aborts when the client disconnects */
  lovelace(signal?: AbortSignal): Promise<bigint>
}

// The results of ports, as far as they are read.

const outRef = Type.String({ pattern: '^[0-9a-f]{64}#[0-9]+$' })
const headerHash = Type.Uint8Array({ minByteLength: 28, maxByteLength: 28 })
const time = Type.BigInt()

/** A `StateQueueView`. */
export const Queue = Type.Object(
  {
    roots: Type.Array(Type.Object({ outRef, headerHash, endTime: time })),
    blocks: Type.Array(
      Type.Object({
        headerHash,
        height: Type.Optional(Type.BigInt()),
        startTime: time,
        endTime: time,
        maturesAt: time,
      }),
    ),
    strays: Type.Optional(Type.Array(Type.Object({ outRef, headerHash: Type.Optional(headerHash) }))),
    fault: Type.Optional(Type.String()),
  },
  { title: 'StateQueueView' },
)

/** `RootUnits`. */
export const Units = Type.Object(
  {
    resetInProgress: Type.Boolean(),
    stateQueueAddress: Type.String(),
    rootUnit: Type.String(),
    outRefs: Type.Array(outRef),
  },
  { title: 'RootUnits' },
)

export const Lovelace = Type.BigInt({ title: 'a bigint' })
