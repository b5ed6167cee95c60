import type { TestBlock } from '../blocks.js'
import type { Prove } from './statements.js'
import { blockWith, type Plan } from './transactions.js'

/** A block that breaks one rule, the proof of it, and the same block without the breach. */
export interface TransactionLie {
  readonly what: string
  readonly block: TestBlock
  readonly twin: TestBlock
  readonly prove: Prove
  readonly isDecoded: boolean
}

export const lie = (
  what: string,
  plan: Plan,
  twin: Plan,
  prove: Prove,
  isDecoded = true,
): TransactionLie => ({
  what,
  block: blockWith(plan),
  twin: blockWith(twin),
  prove,
  isDecoded,
})
