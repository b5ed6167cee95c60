import type { QueueBackend } from '@ratatosk/queue'
import type { Operation, OperationResult, Sequencer } from '../sequencer/types.js'

/** What becomes of an operation that is asked for from elsewhere. */
export type RemoteResult =
  | OperationResult
  /** No sequencer took it, or its result did not come in time; a message for people. */
  | { readonly kind: 'timed-out'; readonly message: string }

export interface ServeOperationsOptions {
  readonly queue: QueueBackend
  readonly sequencer: Pick<Sequencer, 'active' | 'subscribe' | 'run'>
}

/** Takes operations from the queue while its sequencer is active. */
export interface OperationsServer {
  /** Resolves when it takes operations, or knows that it must not. */
  ready(): Promise<void>
  /** Takes no more, and answers those under way with `timed-out`; the sequencer goes on with them until it is closed. */
  close(): Promise<void>
}

export interface CreateOperationsOptions {
  readonly queue: QueueBackend
  /** Where there is one in this process: it is asked itself while it is active. */
  readonly sequencer?: Pick<Sequencer, 'active' | 'run'>
  /** How long a result is waited for. @defaultValue 190000 */
  readonly timeoutMs?: number
}

/** Runs operations wherever the active sequencer is. */
export interface Operations {
  run(operation: Operation): Promise<RemoteResult>
  close(): Promise<void>
}
