/** The operations that an operator runs; one runs at a time. */
export type Operation =
  | 'init'
  | 'commit'
  | 'merge'
  | 'reset'
  | 'repair'
  | 'remove'
  /** These change the operator's entry in the registry. */
  | 'register'
  | 'retire'
  | 'release'

/** The subject of an operation. */
export interface OperationDetails {
  /** Header hash of the block to remove, 56 hex digits; `remove` needs it. */
  readonly headerHash?: string
}

/** Why an operation cannot run in the present state. */
export type RefusalCode =
  /** This process does not hold the sequencer's lease. */
  | 'SEQUENCER_NOT_ACTIVE'
  /** There is no root unit: init mints one. */
  | 'SEQUENCER_NOT_INITIALISED'
  /** There is more than one root unit, or the list is broken: repair, then init. */
  | 'SEQUENCER_BROKEN_QUEUE'
  /** The state queue holds a block or a confirmed state that this store does not know. */
  | 'SEQUENCER_FOREIGN_QUEUE'
  /** The state queue holds a block of another operator that breaks a rule: nothing is built on it. */
  | 'SEQUENCER_INVALID_BLOCK'
  /** Scheduled work fails again and again by an error that is none of these. */
  | 'SEQUENCER_FAILED'
  /** The operator is not in the registry. */
  | 'SEQUENCER_NOT_REGISTERED'
  /** The bond is not free yet: the operator has not retired, or not for long enough. */
  | 'SEQUENCER_BOND_LOCKED'
  /**
   * The output that creates the deployment's registry is spent, or not this operator's: the settings have to
   * name another.
   */
  | 'SEQUENCER_DEPLOYMENT_OUTPUT_SPENT'
  /** Layer 1 has an older ledger version than the contracts need. */
  | 'SEQUENCER_LAYER1_TOO_OLD'
  /** The contracts have a summons, and this process cannot answer its questions. */
  | 'SEQUENCER_NO_ANSWERS'
  /** It is another operator's turn, or too little of this operator's turn is left. */
  | 'SEQUENCER_NOT_IN_TURN'
  /** The oldest transaction of the mempool is not valid yet when the next block ends. */
  | 'SEQUENCER_NOT_YET_VALID'
  /** Layer 1 is not read far enough to know the deposits of the next block. */
  | 'SEQUENCER_EVENTS_NOT_READ'
  /** The maximum number of unconfirmed blocks is reached. */
  | 'SEQUENCER_TOO_MANY_UNCONFIRMED'
  /** The ledger started from other genesis outputs than the settings name. */
  | 'SEQUENCER_GENESIS_MISMATCH'
  /** The wallet cannot pay. */
  | 'SEQUENCER_INSUFFICIENT_FUNDS'
  /**
   * The administrator has to sign, and its keys are not where the operation was to run, or there is no
   * administrator.
   */
  | 'SEQUENCER_NO_ADMINISTRATOR'
  /** The block to remove is not in the state queue. */
  | 'SEQUENCER_NO_SUCH_BLOCK'

/** How an operation ends when it was not carried out. */
export type OperationFailure =
  /** Another operation is running. */
  | { readonly kind: 'busy'; readonly operation: Operation }
  /** The present state does not allow it; `message` says what to do and may be shown to clients. */
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly message: string }
  /** Layer 1 failed; `cause` is the kind of failure. Holds no credentials and no server addresses. */
  | { readonly kind: 'layer1-failed'; readonly cause: string; readonly code: string }
  /**
   * There was no result in time; `message` says whether the operation may still run, and may be shown to
   * clients.
   */
  | { readonly kind: 'timed-out'; readonly message: string }

/** How an operation ends. Hashes are hex, so that a result travels as JSON. */
export type OperationResult =
  | {
      readonly kind: 'initiated'
      readonly transactionId: string
      readonly rootUnit: string
      /** The state queue was there: the operator is registered with it. */
      readonly isRegistration?: true
    }
  /** Init found a root unit. */
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
      /** The number of transactions in the block. */
      readonly transactions: number
    }
  | { readonly kind: 'nothing-to-commit' }
  | { readonly kind: 'merged'; readonly headerHash: string; readonly transactionId: string }
  | { readonly kind: 'nothing-to-merge' }
  | { readonly kind: 'reset' }
  | {
      readonly kind: 'removed'
      /** 56 hex digits. */
      readonly headerHash: string
      /** The latest of the transactions that removed blocks. */
      readonly transactionId: string
      /** Header hashes of all blocks that were removed: the block and those behind it. */
      readonly removed: readonly string[]
    }
  | { readonly kind: 'repaired' }
  /**
   * The operator is in the registry. Here and below, without `transactionId` it had been done before;
   * `operatorKey` is the operator's key hash in hex.
   */
  | {
      readonly kind: 'registered'
      readonly operatorKey: string
      readonly transactionId?: string
      /** Lovelace, decimal. */
      readonly bond: string
      /** Start of the first turn in which the operator counts, POSIX milliseconds. */
      readonly activeFrom: number
    }
  | {
      readonly kind: 'retired'
      readonly operatorKey: string
      readonly transactionId?: string
      /** Start of the first turn without the operator, POSIX milliseconds. */
      readonly activeUntil: number
      /** From when on the bond may be withdrawn, POSIX milliseconds. */
      readonly releaseAt: number
    }
  | {
      readonly kind: 'released'
      readonly operatorKey: string
      readonly transactionId?: string
      /** Lovelace that went to the operator's wallet, decimal; 0 if the registry had no bond of it. */
      readonly bond: string
    }
  | OperationFailure
