export type { BlockCount, BlockState, PlacedBlock, TransactionPlace } from './blocks.js'
export type {
  ClaimPayer,
  ClaimRequest,
  ClaimResult,
  ClaimStore,
  Conclusion,
  FundedClaim,
  HeldClaim,
  Payment,
  Reservation,
  ReserveRequest,
  UnsettledPayment,
} from './claim-store.js'
export type { Evaluation, Evaluations, RedeemerReport, Turns, Units } from './evaluations.js'
export type {
  AcceptedEvent,
  BlockEvent,
  EventFilter,
  EventLog,
  EventPage,
  EventPosition,
  EventRange,
  LedgerEvent,
  RejectedEvent,
  VerdictEvent,
} from './events.js'
export type {
  BlockTotal,
  CountedMinutes,
  Delay,
  ExplorerOutput,
  ExplorerReads,
  MinuteCount,
  TimedBlock,
} from './explorer.js'
export type { Log } from './log.js'
export type {
  Operation,
  OperationDetails,
  OperationFailure,
  OperationResult,
  RefusalCode,
} from './operations.js'
export type { Against, HeldProof, ProvedTransaction, Prover } from './proofs.js'
export type {
  FoundSubmission,
  PlacedTransactions,
  QueuedSubmissions,
  RejectedSubmission,
  RejectedSubmissions,
  RejectionRecord,
  RemovedTransaction,
  RemovedTransactions,
  WaitingSubmission,
} from './transaction-status.js'
export type { BlockVerdict, VerdictFinding, VerdictTransaction } from './verdicts.js'
