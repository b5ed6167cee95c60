/** An operator in the registry on layer 1. */
export interface ListedOperator {
  /** Blake2b-224 of the verification key, 28 bytes. */
  readonly operatorKey: Uint8Array
  /** Lovelace that the registry holds. */
  readonly bond: bigint
  /** Start of the first turn in which the operator counts, POSIX milliseconds. */
  readonly activeFrom: bigint
  /** Start of the first turn without the operator, POSIX milliseconds; absent until the operator retires. */
  readonly activeUntil?: bigint
  /** From when on the bond may be withdrawn, POSIX milliseconds; absent until the operator retires. */
  readonly releaseAt?: bigint
}

/** The operators and their turns at one moment. */
export interface OperatorsView {
  /** In the order of their turns; empty before the registry is initialised. */
  readonly operators: readonly ListedOperator[]
  /** Key hash of the operator in turn, 28 bytes; absent if none counts in this turn. */
  readonly inTurn?: Uint8Array
  /** Key hash of the operator in the next turn, 28 bytes; absent if none counts in it yet. */
  readonly next?: Uint8Array
  /** POSIX milliseconds. */
  readonly turnEndsAt: bigint
  /** From when on any operator may commit, POSIX milliseconds; absent before there is a state queue. */
  readonly takeOverAt?: bigint
  /** Milliseconds. */
  readonly turnLength: bigint
  /** How many operators the registry can hold. */
  readonly maxOperators: number
  /** Whether the administrator admits operators. */
  readonly permissioned: boolean
}

/** Source of `GET /operators`. */
export interface OperatorRegistry {
  /** @param signal aborts when the client disconnects */
  read(signal?: AbortSignal): Promise<OperatorsView>
}

/** A question of the summons that has no answer yet. */
export interface ListedQuestion {
  /** `<64 hex digits>#<index>` of the output that holds the question. */
  readonly outRef: string
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  /** A chunk of the transactions; a node of a map with its children; any leaf below a node; an entry. */
  readonly kind: 'chunk' | 'subtree' | 'leaf' | 'entry'
  /** The field of the header that commits to the map. */
  readonly root: 'utxosRoot' | 'transactionsRoot' | 'depositsRoot' | 'withdrawalsRoot'
  /** The number of a chunk, or a path and the number of its nibbles above the node. */
  readonly key: Uint8Array
  /** POSIX milliseconds: from then on, the question may become a verdict. */
  readonly deadline: bigint
  /** Lovelace in the output. */
  readonly bond: bigint
}

/** Source of `GET /summons`. */
export interface OpenQuestions {
  /**
   * Reads all open questions in any order, in pieces of which each takes a few milliseconds at most: other
   * work runs after each. All clients share a read, so that none can abort it.
   */
  read(): AsyncIterable<readonly ListedQuestion[]>
}

/** A question that the operator of this node wants to be asked. */
export interface RequestedQuestion {
  /** Of a block in the state queue, 28 bytes. */
  readonly headerHash: Uint8Array
  /** Number of the chunk, from 0, 4 bytes. */
  readonly chunk: number
}

/** The result of a {@link RequestedQuestion}. */
export type SummonOutcome =
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
  /** The reason is a sentence for people. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Too many wait. */
  | { readonly kind: 'busy' }

/** Asks for what the operator of a block hides. */
export interface Summoner {
  /** @param signal aborts when the client disconnects */
  summon(wanted: RequestedQuestion, signal?: AbortSignal): Promise<SummonOutcome>
}

/** A layer-1 transaction on the way to a removal. */
export interface ListedTransaction {
  /** 32 bytes. */
  readonly id: Uint8Array
  /**
   * Asks a question of the summons; stores a datum of a proof; mints the verdict; removes the block; prunes
   * the blocks behind it.
   */
  readonly stage: 'question' | 'datum' | 'verdict' | 'removal' | 'prune'
  /** Lovelace. */
  readonly fee: bigint
  readonly sentAt: Date
}

/** The node's finding against a block. */
export interface ListedVerdict {
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  readonly height: bigint
  /** Blake2b-224 of the operator's verification key, 28 bytes. */
  readonly operatorKey: Uint8Array
  /**
   * `unavailable`: no one serves its body; `valid`: that came, and breaks no rule; `invalid`: a rule is
   * broken; `unprovable`: and no policy can prove it on layer 1; `removing`: transactions are sent;
   * `removed`: the block is gone.
   */
  readonly state: 'unavailable' | 'valid' | 'invalid' | 'unprovable' | 'removing' | 'removed'
  /** The broken rule, or what is missing, for people. */
  readonly reason: string
  /** Place of the transaction in the block that breaks the rule. */
  readonly position?: number
  /** Name of the verdict policy that proves the fraud. */
  readonly policy?: string
  /** Name of the fraud in that policy. */
  readonly fraud?: string
  /** Oldest first. */
  readonly transactions: readonly ListedTransaction[]
  readonly foundAt: Date
  readonly removedAt?: Date
}

/** A part of the list of verdicts. */
export interface VerdictsPart {
  readonly limit: number
  readonly state?: ListedVerdict['state']
  /** Header hash of the last verdict of the page before, 28 bytes. */
  readonly before?: Uint8Array
}

/** Source of `GET /verdicts`. */
export interface VerdictList {
  /**
   * Reads a page, newest first: none if `before` is not in the list.
   *
   * @param signal aborts when the client disconnects
   */
  list(
    part: VerdictsPart,
    signal?: AbortSignal,
  ): Promise<{ readonly verdicts: readonly ListedVerdict[]; readonly hasMore: boolean }>
}
