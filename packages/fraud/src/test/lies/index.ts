import { blockOf, type Committed, type Story } from '../lying-blocks.js'
import { chunkLies } from './chunk-lies.js'
import { ledgerLies } from './ledger-lies.js'
import type { Lie } from './lie.js'
import { transactionLies } from './transaction-lies.js'
import { witnessLies } from './witness-lies.js'

export type { Lie } from './lie.js'
export { lostQuestions } from './lost-questions.js'
export { outputsOfLies } from './witness-lies.js'

/** A lie for every fraud of every verdict policy, each in an otherwise honest block. */
export const lies: readonly Lie[] = [...ledgerLies, ...chunkLies, ...transactionLies, ...witnessLies]

export function lieOf(fraud: string): Lie {
  const lie = lies.find((each) => each.fraud === fraud)
  if (lie === undefined) throw new RangeError(`There is no lie of the fraud ${fraud}`)
  return lie
}

export const ofLie = (fraud: string, story: Story): Committed => lieOf(fraud).tell(story)

/** A block whose proof needs a datum of its own. */
export const largeLie = ({ transactions, large }: Story): Committed => blockOf([...transactions, large])
