import type { LedgerFraudProof } from '@ratatosk/fraud'
import type { TestBlock } from '../blocks.js'

/** A block that breaks one rule, and the proof of it. The same proof of the honest block proves nothing. */
export interface LedgerLie {
  readonly what: string
  readonly block: TestBlock
  readonly prove: (block: TestBlock) => LedgerFraudProof
  /** Whether the honest block has what the proof opens. */
  readonly hasTwin: boolean
}
