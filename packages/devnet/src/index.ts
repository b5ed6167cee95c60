export type * from './chain/types.js'
export { createDevnetClient, type DevnetClient, type RequestOptions } from './client.js'
export { createDevnet } from './create-devnet.js'
export { DevnetError, type DevnetErrorCode, isDevnetError } from './errors.js'
export type { FaultKind, FaultOperation, Faults, FaultTarget, InjectedFault } from './faults.js'
export { defaultParameters, type Genesis } from './genesis/genesis.js'
export {
  type FundsOptions,
  type TestWallet,
  type TestWallets,
  testGenesis,
  testWallets,
} from './genesis/wallets.js'
export type { ControlOptions } from './plugin/control-guards.js'
export { type DevnetApisOptions, devnetApis, devnetControls } from './plugin/devnet-apis.js'
export { createMemoryStore } from './store/memory-store.js'
export { createSqlStore, type SqlStoreOptions, storedChainHas } from './store/sql-store.js'
export type * from './store/types.js'
export type { BlockChange } from './store/types.js'
export type * from './types.js'
export type { RollBackOptions } from './types.js'
