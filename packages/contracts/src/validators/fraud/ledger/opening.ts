import { type Accused, accused, type Opening, type Supplied, witnessSetsOf } from '../openings.js'
import type { FraudCheck as Check, Frauds } from '../policy.js'
import { type Chunks, chunksOf } from './chunks.js'
import { type Resolutions, resolutionsOf } from './resolutions.js'

/** The parts of a header that the frauds of the ledger policy read. */
export interface LedgerBlock extends Accused, Supplied, Chunks, Resolutions {}

export type FraudCheck = Check<LedgerBlock>

export const openLedger: Frauds<LedgerBlock>['open'] = function* (book, evidence): Opening<LedgerBlock> {
  const block = yield* accused(book, evidence)
  const supplied = yield* witnessSetsOf(book, evidence)
  const chunks = yield* chunksOf(book, block, supplied)
  return { ...block, ...supplied, ...chunks, ...resolutionsOf(evidence) }
}
