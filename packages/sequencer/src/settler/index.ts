export { type BackGenesisOptions, type Backing, backGenesis } from './back-genesis.js'
export { createSettler } from './create-settler.js'
export { isSettlerError, SettlerError, type SettlerErrorCode } from './errors.js'
export { settlerKeys } from './keys.js'
export type { OwedContext } from './owed.js'
export { createOwedReader } from './owed-reader.js'
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
