/** What an operator asks of a node, one at a time. */
export type Operation = 'init' | 'commit' | 'merge' | 'reset' | 'repair'

/** How an operation may end without having been done. */
export type OperationFailure =
  /** Another operation runs. */
  | { readonly kind: 'busy'; readonly operation: Operation }
  /** It cannot be done as things stand; the message is for the client. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** `cause` is the kind of failure; what is not in `layer1Causes` is answered as `unknown`. */
  | { readonly kind: 'layer1-failed'; readonly cause: string; readonly code: string }
  /** No result within the time given; the message is for the client, and says whether it may still be done. */
  | { readonly kind: 'timed-out'; readonly message: string }

/** What became of an operation. Hashes are hex, so that a result travels as JSON. */
export type OperationResult =
  | { readonly kind: 'initiated'; readonly transactionId: string; readonly rootUnit: string }
  /** Of init: there is a root unit already. */
  | {
      readonly kind: 'root-exists'
      readonly rootUnit: string
      /** Bech32. */
      readonly stateQueueAddress: string
      readonly count: number
      /** Each `<64 hex digits>#<index>`. */
      readonly outRefs: readonly string[]
    }
  | {
      readonly kind: 'committed'
      /** 56 hex digits. */
      readonly headerHash: string
      readonly transactionId: string
      /** How many. */
      readonly transactions: number
    }
  | { readonly kind: 'nothing-to-commit' }
  | { readonly kind: 'merged'; readonly headerHash: string; readonly transactionId: string }
  | { readonly kind: 'nothing-to-merge' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'repaired' }
  | OperationFailure
