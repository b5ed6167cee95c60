import { BytesMap, BytesSet, equalBytes } from '@ratatosk/cbor'
import type { Utxo } from '@ratatosk/ledger'
import type { BuiltTransaction } from '@ratatosk/ledger/builder'
import type { OrderedTransaction } from '@ratatosk/store'
import type { SequencerError } from './errors.js'

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
