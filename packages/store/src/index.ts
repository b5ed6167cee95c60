export type { PGliteLike, PostgresOptions } from '@ratatosk/database'
export type { BlockState } from '@ratatosk/ports'
export type { AnswerStage, Answers, AnswerTransaction } from './answers/answers.js'
export type * from './blocks/types.js'
export type { Bodies } from './bodies/bodies.js'
export { isStoreError, StoreError, type StoreErrorCode } from './errors.js'
export type { HeldLease, Lease, Leases } from './leases/leases.js'
export type {
  AppliedTransaction,
  Batch,
  Ledger,
  LedgerEntry,
  LedgerReads,
  StoredOutput,
  UnlockedLedger,
} from './ledger/ledger.js'
export type * from './open-store.js'
export { openStore } from './open-store.js'
export type {
  AcceptedChange,
  AcceptedPlace,
  BlockEnd,
  BlockPlace,
  BlockPosition,
  ChainQueries,
  DepositsBeside,
  LedgerChanges,
} from './queries/chain.js'
export type * from './rejections/types.js'
export type { Removal, Resubmissions } from './resubmissions/resubmissions.js'
export { inspectServer, type ServerInspection, type StoreWarning } from './server-settings.js'
export type * from './store.js'
export { readStored, type StoredLedger, type StoredOptions, separateCopy } from './stored.js'
export type {
  NewVerdict,
  RecordedTransaction,
  VerdictRecord,
  VerdictStage,
  Verdicts,
} from './verdicts/verdicts.js'
