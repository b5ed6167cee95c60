export {
  createSettler,
  isSettlerError,
  SettlerError,
  type SettlerErrorCode,
  settlerKeys,
} from './create-settler.js'
export type { OwedContext } from './owed.js'
export { createOwedReader } from './owed-reader.js'
export { type BackGenesisOptions, type Backing, backGenesis } from './treasury.js'
export type {
  BridgeContracts,
  OwedCount,
  OwedReader,
  Paid,
  PayOptions,
  PayoutDraft,
  PayoutOrder,
  SettlementStatus,
  Settler,
  SettlerOptions,
  SettlerStatus,
} from './types.js'
