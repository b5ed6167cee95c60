import type { Data } from '../core/term.js'

/** The parameters of the summons, all integers. */
export interface SummonsTerms {
  /** Least lovelace in a question. */
  readonly bond: Data
  /** Lovelace that an answer takes from it. */
  readonly reward: Data
  /** Lovelace that it takes for each byte of its redeemer. */
  readonly byteReward: Data
  /** Milliseconds in which a question is to be answered. */
  readonly period: Data
  /** Milliseconds from the end of a block until it may be merged. */
  readonly maturityWindow: Data
}
