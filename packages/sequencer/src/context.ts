import { setTimeout as sleep } from 'node:timers/promises'
import { BytesMap, BytesSet, equalBytes, toHex } from '@ratatosk/cbor'
import { isRenounced } from '@ratatosk/contracts'
import type { SlotConfig, Utxo } from '@ratatosk/ledger'
import type { BuiltTransaction } from '@ratatosk/ledger/builder'
import type { Log } from '@ratatosk/ports'
import { type BridgeEvents, openEventSource } from '@ratatosk/protocol'
import type { HeldLease, Lease, OrderedTransaction } from '@ratatosk/store'
import { CommitWatch } from './commit-policy.js'
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

/** Reads of layer 1 for each comparison of the whole queue, at least. */
const readsPerComparison = 10
/** Milliseconds between two comparisons of the whole queue, per block; providers send a hundred at a time. */
const comparisonMsPerBlock = 100

/** Reads of layer 1 between two tries to adopt a block whose body no peer had. */
const readsPerTry = 3

/** A block of another operator that this store cannot adopt, or not yet. */
interface Obstacle {
  readonly headerHash: Uint8Array
  readonly reason: SequencerError
}

/** Known state of store and layer 1 under one lease. A new lease starts with an empty cache. */
export class Cache {
  referenceScripts: readonly Utxo[] | undefined
  /** Root of the unspent outputs before the first block; undefined if genesis may have been applied since. */
  genesisRoot: Uint8Array | undefined
  /** Slot of layer 1's tip when a transaction was last sent, by transaction id. */
  readonly sentAt = new BytesMap<bigint>()
  /** The newest transaction that sent ada to the wallet for answers. */
  answerFunding: Pick<BuiltTransaction, 'id' | 'bytes'> | undefined
  /** Own questions that waited for answers when they were last read. */
  questionsDue = 0
  /** False: the wallet for answers had enough when it was last read. */
  mayLackAnswerFunds = true
  /** Ids of merges that layer 1 can no longer include; their blocks are merged again. */
  deadMerges = new BytesSet()
  /** The last comparison of the whole queue; undefined: it has to be compared before anything else. */
  comparison: { readonly at: number; readonly blocks: number } | undefined
  /** The block of the queue that the store ends before, though the queue does not. */
  obstacle: Obstacle | undefined
  /** Slot of layer 1's tip when a block of another operator was last adopted. */
  adoptedAt = 0n
  /** False: no transaction waits to be resubmitted. */
  mayHaveResubmissions = true
  /** Blocks up to this height are known to be mature. */
  matureUpTo = 0n
  /** The mempool's oldest transactions, for which the roots are prepared. */
  ahead: readonly OrderedTransaction[] = []
  #registry: string | undefined

  /** Forgets what concerns other transactions than those that are pending, and other merges than these. */
  keepPending(pending: BytesSet, merges: BytesSet): void {
    for (const id of this.sentAt.keys()) if (!pending.has(id)) this.sentAt.delete(id)
    for (const id of this.deadMerges) if (!merges.has(id)) this.deadMerges.delete(id)
  }

  /** Whether to compare the whole queue again, rarely if it is long: removals do not show at its ends. */
  isComparisonDue(pollMs: number): boolean {
    if (this.comparison === undefined) return true
    const { at, blocks } = this.comparison
    const reads = this.obstacle?.reason.code === 'SEQUENCER_FOREIGN_QUEUE' ? readsPerTry : readsPerComparison
    return performance.now() - at >= Math.max(reads * pollMs, comparisonMsPerBlock * blocks)
  }

  isObstacle(headerHash: Uint8Array): boolean {
    return this.obstacle !== undefined && equalBytes(this.obstacle.headerHash, headerHash)
  }

  /** Records the registry's output. Slashing an operator replaces it, and may have removed a block. */
  readRegistry(reference: string | undefined): void {
    if (this.#registry !== undefined && this.#registry !== reference) this.comparison = undefined
    this.#registry = reference
  }

  /** The transactions for which the roots are prepared, which a block takes out of the mempool. */
  takeAhead(): readonly OrderedTransaction[] {
    const ahead = this.ahead
    this.ahead = []
    return ahead
  }

  /** Forgets what was read of a state of layer 1 that no longer is. */
  layer1Changed(): void {
    this.matureUpTo = 0n
    this.referenceScripts = undefined
    this.sentAt.clear()
  }

  /** Forgets what was known about blocks that are no longer there. */
  blocksRemoved(): void {
    this.matureUpTo = 0n
    this.referenceScripts = undefined
    this.ahead = []
  }

  /** Forgets everything, after the store was emptied. */
  storeEmptied(genesisRoot: Uint8Array): void {
    this.layer1Changed()
    this.ahead = []
    this.deadMerges = new BytesSet()
    this.comparison = undefined
    this.#registry = undefined
    this.obstacle = undefined
    this.mayHaveResubmissions = true
    this.genesisRoot = genesisRoot
  }
}
