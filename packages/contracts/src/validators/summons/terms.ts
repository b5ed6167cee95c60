import type { Data } from '../core/term.js'

/** The parameters of the summons, all integers. */
export interface SummonsTerms {
  /** Least lovelace in a question. */
  readonly bond: Data
  /** Lovelace that an answer takes from it that shows no chunk. */
  readonly reward: Data
  /** Lovelace that an answer takes from it for each byte of a chunk in its redeemer. */
  readonly byteReward: Data
  /** Milliseconds in which a question is to be answered. */
  readonly period: Data
  /** Milliseconds from the end of a block until it may be merged. */
  readonly maturityWindow: Data
}
