import type { Operation } from '../sequencer/types.js'
import type { RemoteResult } from './types.js'

/** The name of the queue between whoever asks for an operation and the active sequencer. */
export const OPERATIONS = 'operations'

export interface OperationJob {
  readonly operation: Operation
  /** POSIX milliseconds: nobody waits for it any more, and it must not run. */
  readonly expiresAt: number
}

/** `expired` where it was taken too late, and not run. */
export type OperationJobResult = RemoteResult | { readonly kind: 'expired' }
