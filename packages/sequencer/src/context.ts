import { setTimeout as sleep } from 'node:timers/promises'
import type { SlotConfig, Utxo } from '@ratatosk/ledger'
import type { Log } from '@ratatosk/ports'
import type { HeldLease, Lease, OrderedTransaction } from '@ratatosk/store'
import { notActive } from './errors.js'
import type { SequencerOptions, Step } from './types.js'

/** The options with their defaults. */
export type Settings = Required<Omit<SequencerOptions, Unset>> & {
  readonly commitAtFees: bigint | undefined
  readonly hourlyBudget: bigint | undefined
}

type Unset = 'log' | 'observer' | 'commitAtFees' | 'hourlyBudget'

/** Applies the defaults. */
export function settingsOf({ log: _log, observer: _observer, ...options }: SequencerOptions): Settings {
  return {
    autoCommit: true,
    autoMerge: true,
    autoInit: false,
    administrator: { absent: 'the sequencer was created without its keys' },
    commitEveryMs: 1000,
    commitAtTransactions: options.maxBlockTransactions ?? 10_000,
    commitAtFees: undefined,
    hourlyBudget: undefined,
    mergeEveryMs: 10_000,
    pollMs: 1000,
    maxBlockTransactions: 10_000,
    prepareAtTransactions: 250,
    blockValidityMs: 120_000,
    maxUnconfirmed: 8,
    leaseMs: 10_000,
    operationTimeoutMs: 180_000,
    ...options,
  }
}

/**
 * What everything that runs under one lease shares. A new lease starts with a new context and reads its state
 * from the store.
 */
export interface SequencerContext extends Settings {
  readonly slots: SlotConfig
  readonly log: Log
  /** Aborts when the lease is lost. */
  readonly signal: AbortSignal
  /** The lease that fences writes to the store. */
  readonly lease: Lease
  readonly memory: Memory
  /** Waits. @throws {SequencerError} `SEQUENCER_NOT_ACTIVE` when the lease is lost or the sequencer closes */
  pause(ms: number): Promise<void>
  /** To be called when a step is durable. */
  step(name: Step): void
}

/** Cached knowledge. Whatever is missing here is read again. */
export interface Memory {
  /** The outputs that hold the protocol's reference scripts. */
  referenceScripts: readonly Utxo[] | undefined
  /** Root of the unspent outputs before the first block. */
  genesisRoot: Uint8Array | undefined
  /** Slot of layer 1's tip when a transaction was last sent, by transaction id. */
  readonly sentAt: Map<string, bigint>
  /** Ids of merges that layer 1 can no longer include; their blocks are merged again. */
  readonly deadMerges: Set<string>
  /**
   * When the whole queue was last compared with the store, by `performance.now()`, and how many blocks it
   * had. Removals change the queue where reconciliation does not look otherwise: not at its ends. Undefined:
   * it has to be compared at once.
   */
  comparison: { readonly at: number; readonly blocks: number } | undefined
  /** The output of the operator registry when it was last read. Slashing an operator replaces it. */
  registry: string | undefined
  /** False: no transaction waits to be resubmitted. */
  mayHaveResubmissions: boolean
  /** Blocks up to this height are known to be mature. */
  matureUpTo: bigint
  /**
   * The mempool's oldest transactions, for which the roots are prepared. To be emptied when any of them
   * leaves the mempool.
   */
  ahead: readonly OrderedTransaction[]
}

export const newMemory = (): Memory => ({
  referenceScripts: undefined,
  genesisRoot: undefined,
  sentAt: new Map(),
  deadMerges: new Set(),
  comparison: undefined,
  registry: undefined,
  mayHaveResubmissions: true,
  matureUpTo: 0n,
  ahead: [],
})

/** What a context is made of. */
export interface ContextOptions {
  readonly settings: Settings
  readonly held: HeldLease
  readonly slots: SlotConfig
  readonly log: Log
  /** Aborts when the work under this lease has to end: the lease is lost, or the sequencer closes. */
  readonly ends: AbortSignal
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal
  step(name: Step): void
}

export function createContext({
  settings,
  held,
  slots,
  log,
  ends,
  lost,
  step,
}: ContextOptions): SequencerContext {
  return {
    ...settings,
    slots,
    log,
    step,
    memory: newMemory(),
    signal: lost,
    get lease() {
      return held.lease
    },
    async pause(ms) {
      await sleep(ms, undefined, { signal: ends }).catch(() => {
        throw notActive()
      })
    },
  }
}
