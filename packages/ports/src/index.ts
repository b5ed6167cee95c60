export type { ClaimPayer, ClaimRequest, ClaimResult } from './claim.js'
export type {
  ClaimStore,
  Conclusion,
  FundedClaim,
  HeldClaim,
  Payment,
  Reservation,
  ReserveRequest,
  UnsettledPayment,
} from './claim-store.js'
export type { Log } from './log.js'
export type {
  Operation,
  OperationDetails,
  OperationFailure,
  OperationResult,
  RefusalCode,
} from './operations.js'
