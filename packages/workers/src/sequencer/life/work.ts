import type { Utxo } from '@ratatosk/layer1'
import type { SlotConfig } from '@ratatosk/ledger'
import type { Lease } from '@ratatosk/store'
import type { Log } from '../../validation/activity.js'
import type { SequencerOptions, Step } from '../types.js'

/** Of the headers that this version writes. */
export const PROTOCOL_VERSION = 1n

/** Settings with their defaults. */
export type Settings = Required<Omit<SequencerOptions, 'log' | 'observer'>>

/** What the steps of one lease share. A new lease begins with a new one, and finds everything in the store. */
export interface Work extends Settings {
  readonly slots: SlotConfig
  readonly log: Log
  /** Aborts when the lease is lost. */
  readonly signal: AbortSignal
  /** Under which the store is written. */
  readonly lease: Lease
  /** @throws {Refusal} `not-active` when the lease is lost or the sequencer closes */
  pause(ms: number): Promise<void>
  /** To be called when a step is durable. */
  step(name: Step): void
  readonly memory: Memory
}

/** What is known for now, and found out again where it is not. */
export interface Memory {
  /** Outputs of the administrator that hold scripts for reference. */
  library: readonly Utxo[] | undefined
  /** Of the outputs before the first block. */
  genesisRoot: Uint8Array | undefined
  /** The slot of layer 1's tip when a transaction was last sent, by its id. */
  readonly sent: Map<string, bigint>
  /** Merges that can be included no more; their blocks are merged anew. */
  readonly deadMerges: Set<string>
  /** Up to this height, blocks are known to be mature. */
  matureUpTo: bigint
}

export const newMemory = (): Memory => ({
  library: undefined,
  genesisRoot: undefined,
  sent: new Map(),
  deadMerges: new Set(),
  matureUpTo: 0n,
})

/** As many hex digits as tell blocks apart in a log. */
export const short = (hash: Uint8Array): string => Buffer.from(hash).subarray(0, 5).toString('hex')
