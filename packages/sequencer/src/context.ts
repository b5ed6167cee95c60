import { setTimeout as sleep } from 'node:timers/promises'
import { toHex } from '@ratatosk/cbor'
import { isRenounced } from '@ratatosk/contracts'
import type { SlotConfig } from '@ratatosk/ledger'
import type { Log } from '@ratatosk/ports'
import { type BridgeEvents, openEventSource } from '@ratatosk/protocol'
import type { HeldLease, Lease } from '@ratatosk/store'
import { Cache } from './cache.js'
import { CommitWatch } from './commit-watch.js'
import { notActive, SequencerError } from './errors.js'
import type { AbsentAdministrator, Administrator, SequencerOptions, Step } from './types.js'

export interface Resources
  extends Pick<
    SequencerOptions,
    'store' | 'submissions' | 'layer1' | 'contracts' | 'operator' | 'roots' | 'genesis'
  > {
  readonly administrator: Administrator | AbsentAdministrator
  readonly answers: SequencerOptions['answers']
  readonly adoption: SequencerOptions['adoption']
  readonly arrivals: SequencerOptions['arrivals']
  readonly log: Log
}

type Optional = 'commitAtFees' | 'hourlyBudget'

/** How a sequencer works: the options with their defaults. */
export type SequencerSettings = Required<Omit<SequencerOptions, keyof Resources | 'observer' | Optional>> & {
  readonly [name in Optional]: bigint | undefined
}

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }

export function settingsOf({
  store,
  submissions,
  layer1,
  contracts,
  operator,
  administrator = { absent: 'the sequencer was created without its keys' },
  roots,
  answers,
  adoption,
  arrivals,
  genesis,
  log = silent,
  observer: _observer,
  ...given
}: SequencerOptions): { readonly resources: Resources; readonly options: SequencerSettings } {
  return {
    resources: {
      store,
      submissions,
      layer1,
      contracts,
      operator,
      administrator,
      roots,
      answers,
      adoption,
      arrivals,
      genesis,
      log,
    },
    options: {
      autoCommit: true,
      autoMerge: true,
      autoInit: false,
      commitEveryMs: 1000,
      commitAtTransactions: given.maxBlockTransactions ?? 10_000,
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
      ...given,
    },
  }
}

/** The shared context of everything that runs under one lease. */
export interface SequencerContext extends Resources {
  readonly options: SequencerSettings
  readonly slots: SlotConfig
  /** The deposits on layer 1; undefined in a deployment without a bridge. */
  readonly events: BridgeEvents | undefined
  readonly cache: Cache
  readonly commits: CommitWatch
  /** Aborts when the lease is lost. */
  readonly signal: AbortSignal
  /** Aborts when the lease is lost or the sequencer closes: for what may take long and leaves nothing. */
  readonly ends: AbortSignal
  /** The lease that fences writes to the store. */
  readonly lease: Lease
  /** Waits. @throws {SequencerError} `SEQUENCER_NOT_ACTIVE` when the lease is lost or the sequencer closes */
  pause(ms: number): Promise<void>
  /** To be called when a step is durable. */
  step(name: Step): void
}

interface ContextOptions {
  readonly resources: Resources
  readonly options: SequencerSettings
  readonly held: HeldLease
  readonly slots: SlotConfig
  /** Aborts when the work under this lease has to end: the lease is lost, or the sequencer closes. */
  readonly ends: AbortSignal
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal
  step(name: Step): void
}

export function createContext({
  resources,
  options,
  held,
  slots,
  ends,
  lost,
  step,
}: ContextOptions): SequencerContext {
  return {
    ...resources,
    options,
    slots,
    events: resources.contracts.bridge && openEventSource(resources.contracts, resources.layer1, slots),
    step,
    cache: new Cache(),
    commits: new CommitWatch({ ...options, log: resources.log, now: () => performance.now() }),
    signal: lost,
    ends,
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

/** Whether there is an administrator. Without one the queue never ends, and every key may register. */
export const hasAdministrator = ({ contracts }: Pick<SequencerContext, 'contracts'>): boolean =>
  !isRenounced(contracts.parameters.administrator)

/** The administrator. @throws {SequencerError} `SEQUENCER_NO_ADMINISTRATOR` without it or its keys */
export function administratorOf({
  administrator,
  contracts,
}: Pick<SequencerContext, 'administrator' | 'contracts'>): Administrator {
  if (!hasAdministrator({ contracts }))
    throw new SequencerError(
      'SEQUENCER_NO_ADMINISTRATOR',
      'This needs an administrator, and the rollup has none: ' +
        'its state queue never ends, and only a proof of fraud removes a block',
    )
  if (!('absent' in administrator)) return administrator
  const { kind, hash } = contracts.parameters.administrator
  throw new SequencerError(
    'SEQUENCER_NO_ADMINISTRATOR',
    `This needs the signature of the administrator (${kind} ${toHex(hash)}): ${administrator.absent}`,
  )
}
