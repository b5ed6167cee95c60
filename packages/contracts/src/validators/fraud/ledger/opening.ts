import { type Accused, accused, type Opening, type Supplied, witnessSetsOf } from '../openings.js'
import type { FraudCheck as Check, Frauds } from '../policy.js'
import { type Chunks, chunksOf } from './chunks.js'

/** The parts of a header that the frauds of the ledger policy read. */
export interface LedgerBlock extends Accused, Supplied, Chunks {}

export type FraudCheck = Check<LedgerBlock>

export const openLedger: Frauds<LedgerBlock>['open'] = function* (
  book,
  header,
  referenceInputs,
): Opening<LedgerBlock> {
  const block = yield* accused(book, header, referenceInputs)
  const supplied = yield* witnessSetsOf(book, referenceInputs)
  const chunks = yield* chunksOf(book, block, supplied)
  return { ...block, ...supplied, ...chunks }
}
