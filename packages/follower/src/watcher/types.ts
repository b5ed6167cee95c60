import type { ProvableRules } from '@ratatosk/contracts'
import type { Layer1, Wallet } from '@ratatosk/layer1'
import type { Log } from '@ratatosk/ports'
import type { Contracts } from '@ratatosk/protocol'
import type { RemovalContext } from '@ratatosk/protocol/fraud'
import type { Store, VerdictStage } from '@ratatosk/store'
import type { FollowerOptions } from '../index.js'

/** The durable or finished work when the step is reported. */
export type WatcherStep =
  | 'unavailable'
  | 'answered'
  | 'unanswered'
  | 'found'
  | 'removed'
  | `${VerdictStage}-${'recorded' | 'sent'}`

/** Options of `createWatcher`. */
export interface WatcherOptions {
  readonly contracts: Contracts
  /** The rules of layer 2, as the verdict policies have them. */
  readonly rules: ProvableRules
  readonly layer1: Layer1
  /** Pays for proofs, and receives the bonds. One process opens it, or those that share a {@link lease}. */
  readonly wallet: Wallet
  /** `Store.verdicts` of `@ratatosk/store`. */
  readonly verdicts: Store['verdicts']
  /** Where the follower archives valid blocks. */
  readonly archive: Pick<Store['archive'], 'byHeight'>
  /** Runs the scripts of layer 1. The caller closes it. */
  readonly evaluator: RemovalContext['evaluator']
  readonly log: Log
  /**
   * The lease `watcher` of a store that several processes use with one wallet: one of them works at a time.
   * Undefined if no other process uses the wallet.
   */
  readonly lease?: { readonly leases: Pick<Store['leases'], 'hold' | 'current'>; readonly ttlMs: number }
  /** Lovelace that fees, datums and questions may take in an hour; undefined for no limit. */
  readonly maxLovelacePerHour?: bigint
  /**
   * Milliseconds of layer 1's time after the end of a block in which peers may be without its body, before
   * the operator is asked for it. @defaultValue `patienceOf` of `@ratatosk/protocol`
   */
  readonly patienceMs?: number
  /** Milliseconds between two reads of layer 1. @defaultValue 1000 */
  readonly pollMs?: number
  /** How long layer 1 may take to include a transaction, in milliseconds. @defaultValue 300000 */
  readonly validityMs?: number
  /** Called when a step is durable or done. */
  readonly observer?: { step(name: WatcherStep): void }
}

/** A block that stays in the state queue although it is disputed. */
export interface DisputedBlock {
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  readonly height: bigint
  readonly reason: string
}

/** The state of a watcher. */
export interface WatcherStatus {
  /** The invalid block in the state queue that no fraud proof removes; absent if there is none. */
  readonly unprovable?: DisputedBlock
  /** The block whose body the operator is asked for; absent if there is none. */
  readonly unavailable?: DisputedBlock
  /** Why another process works instead; absent if this one does. */
  readonly waits?: string
  /** Why the wallet does not pay, or may soon not; absent if it can. */
  readonly lack?: string
  /** Which questions on layer 1 this program does not read; absent if it reads all. */
  readonly unread?: string
  /** Why the last read or removal failed; absent if it did not. */
  readonly trouble?: string
  /** How long every one has failed, in milliseconds; with `trouble`. */
  readonly troubleMs?: number
}

/** Questions of the summons about disputed blocks, since the watcher was created. */
export interface QuestionCounts {
  /** By this watcher. */
  readonly asked: number
  /** By anyone, and answered. */
  readonly answered: number
  /** By anyone, and made a verdict by this watcher, because no one answered. */
  readonly unanswered: number
}

/** A question that a person wants to be asked. */
export interface Summon {
  /** Of a block in the state queue, 28 bytes. */
  readonly headerHash: Uint8Array
  /** Number of the chunk, from 0, 4 bytes. */
  readonly chunk: number
}

/** The result of a {@link Summon}. */
export type SummonResult =
  | {
      readonly kind: 'asked'
      /** `<64 hex digits>#<index>` of the output that holds the question. */
      readonly question: string
      /** 32 bytes. */
      readonly transactionId: Uint8Array
      /** POSIX milliseconds. */
      readonly deadline: bigint
    }
  /** The state queue does not have the block. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly reason: string }
  /** Too many wait. */
  | { readonly kind: 'busy' }

/** Removes invalid blocks by fraud proofs, until it is closed. */
export interface Watcher {
  /** The `watch` of a follower. */
  readonly watch: NonNullable<FollowerOptions['watch']>
  /** The `unavailable` of a follower: asks the operator for the body on layer 1. */
  readonly unavailable: NonNullable<FollowerOptions['unavailable']>
  /** The `available` of a follower: nothing asks for the body any more. */
  readonly available: NonNullable<FollowerOptions['available']>
  /**
   * Asks now for a chunk of a block whose body no peer serves, within the budget.
   *
   * @param signal ends the wait for the turn; what is recorded by then is sent
   * @throws {Layer1Error} (rejects) if layer 1 cannot be read
   */
  summon(wanted: Summon, signal?: AbortSignal): Promise<SummonResult>
  /** Does not read layer 1. */
  status(): WatcherStatus
  /** For metrics. Does not read layer 1. */
  questions(): QuestionCounts
  /** Ends running work; what was recorded is continued after the next start. Safe to call twice. */
  close(): Promise<void>
}
