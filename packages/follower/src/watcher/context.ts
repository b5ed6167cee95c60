import { type BytesMap, type BytesSet, equalBytes, toHex } from '@ratatosk/cbor'
import type { SummonsQuestion } from '@ratatosk/contracts'
import type { Outbox, OutboxTransaction } from '@ratatosk/layer1'
import type { Utxo } from '@ratatosk/ledger'
import type { OpenQuestion } from '@ratatosk/protocol'
import type {
  AccusedBlock,
  DerivedMap,
  Difference,
  FraudRemoval,
  NextQuestion,
  NodeAnswer,
  ShownChunkAnswer,
} from '@ratatosk/protocol/fraud'
import type { VerdictRecord, VerdictStage } from '@ratatosk/store'
import type { InvalidBlock, UnavailableBlock } from '../index.js'
import type { WatcherOptions, WatcherStep } from './types.js'

/** The subject of a question, by any asker. */
export type Subject = Pick<SummonsQuestion, 'kind' | 'root' | 'key' | 'hash'>

export const subjectOf = ({ kind, root, key, hash }: Subject): string =>
  `${kind} ${root} ${toHex(key)} ${toHex(hash)}`

export interface QuestionBook {
  /** Answers about chunks, by their numbers. */
  readonly chunks: Map<number, ShownChunkAnswer>
  /** Answers about nodes, by subject. `unreadable`: this program does not read what the script took. */
  readonly nodes: Map<string, NodeAnswer | 'unreadable'>
  /** Questions that layer 1 has shown and that are not known to be spent, by output. */
  readonly seen: Map<string, OpenQuestion>
  /** Outputs of questions that are spent. */
  readonly spent: Set<string>
  /** Outputs of questions of others that are kept in the store; undefined until they are read from there. */
  kept?: Set<string>
  /** Whether one is spent without an answer: there may be a verdict, although none is recorded. */
  hasExpired?: true
}

export const createQuestionBook = (): QuestionBook => ({
  chunks: new Map(),
  nodes: new Map(),
  seen: new Map(),
  spent: new Set(),
})

/** Whether questions are about the same. */
export const isAbout =
  (subject: Subject) =>
  (question: Subject): boolean =>
    question.kind === subject.kind &&
    question.root === subject.root &&
    equalBytes(question.key, subject.key) &&
    equalBytes(question.hash, subject.hash)

/** The number of the chunk that a question is about, from its key. */
export const chunkNumberOf = (key: Uint8Array): number =>
  new DataView(key.buffer, key.byteOffset, key.byteLength).getUint32(0)

/** Codes of log lines that need an operator; `docs/errors.md` explains them. */
type WatcherCode =
  | 'WATCHER_UNPROVABLE'
  | 'WATCHER_TOO_LATE'
  | 'WATCHER_MERGED'
  | 'WATCHER_LACKS_FUNDS'
  | 'WATCHER_BUDGET_SPENT'

/** Why the wallet does not pay. */
export interface Lack {
  readonly code: WatcherCode
  readonly reason: string
}

/** A block that nothing removes, as it is logged. */
export interface StuckBlock {
  readonly headerHash: string
  readonly height: number
  readonly reason: string
}

/** A transaction of the watcher. One that sweeps bonds is not recorded: the next process sweeps again. */
export interface OwnTransaction extends OutboxTransaction {
  readonly stage: VerdictStage | 'sweep'
}

export interface WatcherContext
  extends Omit<WatcherOptions, 'pollMs' | 'patienceMs' | 'validityMs' | 'observer'> {
  readonly validityMs: number
  /** Milliseconds of layer 1's time. */
  readonly patience: bigint
  /** Aborts when the watcher closes. */
  readonly signal: AbortSignal
  /** Transactions that return bonds and were not yet seen in a block, by id. */
  readonly sweeps: BytesMap<OwnTransaction>
  /** Ids of recorded transactions that layer 1 has shown in a block. */
  readonly included: BytesSet
  /** The last attempt to end a question that failed: its output, and the slot of the tip. */
  refusedEnd?: string
  /** Sends every transaction of the watcher. It counts in slots, and is opened when layer 1 shows them. */
  outbox(): Promise<Outbox<OwnTransaction>>
  /** Whether layer 1 may still remove or merge a block: it ends after the confirmed state. */
  isUndecided(verdict: Pick<VerdictRecord, 'header'>): boolean
  /** Reports the outputs with questions that this program does not read, once. */
  doesNotRead(outputs: readonly Utxo[]): void
  /**
   * Reports a block that is too old to be asked for: of several, the first. While an operator is down, there
   * may be one after the other.
   *
   * @param now layer 1's POSIX milliseconds
   */
  asksTooLate(block: StuckBlock, now: bigint): void
  /** Reports why the wallet cannot pay, once; undefined: it can. */
  lacks(lack: Lack | undefined): void
  /** Takes what has failed for one question, or one block, while the others go on. */
  fails(error: unknown): void
  /** Lets an attempt at a removal wait for a few polls. */
  retryLater(): void
  /** Counts own questions. */
  asked(count: number): void
  step(name: WatcherStep): void
}

/** A block whose body no peer serves. */
export interface Missing {
  readonly block: UnavailableBlock
  readonly book: QuestionBook
  /** When the follower asked for it last, on the clock of `performance.now()`. */
  wantedAt: number
  /** Whether its body has come since then. */
  hasCome: boolean
  /** When it was first asked for, in layer 1's POSIX milliseconds. */
  since?: bigint
  /** Whether the verdict was recorded since then. */
  isRecorded: boolean
  /** Why it cannot be asked for, once that is reported. */
  reported?: string
  /** CBOR, once all chunks are shown. */
  transactions?: readonly Uint8Array[]
}

/** An invalid block that a follower has found. */
export interface Job {
  readonly block: InvalidBlock
  readonly book: QuestionBook
  /** Aborts when the block is gone, or the follower closes. */
  readonly signal: AbortSignal
  /** Whether the verdict was recorded for this finding. */
  isRecorded: boolean
  /** Returns the block to the follower: nothing removes it. */
  giveUp(): void
  /** Attempts that found no proof, or one that was refused. */
  failures: number
  accused?: AccusedBlock
  /** Where the transactions do not have the header's root: the map that follows from them. */
  derived?: DerivedMap
  /** The first one that answers have shown between that map and the header's. */
  difference?: Difference | undefined
  /** The questions of the last search of answers that prove a fraud, and the answers that it had. */
  lacking?: { readonly state: string; readonly questions: readonly NextQuestion[] }
  /** The result of the last search: undefined where no proof is accepted. */
  searched?: {
    readonly key: string
    readonly removal: FraudRemoval | undefined
    readonly why?: string
  }
}
