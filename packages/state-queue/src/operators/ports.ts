import type { BlockVerdict } from '@ratatosk/ports'
import type { OperatorsAnswer, QuestionAnswer } from './answers.js'

/** Source of `GET /operators`. */
export interface OperatorRegistry {
  /** @param signal aborts when the client disconnects */
  read(signal?: AbortSignal): Promise<OperatorsAnswer>
}

/** Source of `GET /summons`. */
export interface OpenQuestions {
  /**
   * Reads all open questions in any order, in pieces of which each takes a few milliseconds at most: other
   * work runs after each. All clients share a read, so that none can abort it.
   */
  read(): AsyncIterable<readonly QuestionAnswer[]>
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

/** A part of the list of verdicts. */
export interface VerdictsPart {
  readonly limit: number
  readonly state?: BlockVerdict['state']
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
  ): Promise<{ readonly verdicts: readonly BlockVerdict[]; readonly hasMore: boolean }>
}
