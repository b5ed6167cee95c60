export { routerOptions } from '@ratatosk/chain-apis'
export type { PublicWallet } from '@ratatosk/client/wallet/script'
export type * from './chain/types.js'
export { createDevnetClient, type DevnetClient, type RequestOptions } from './client.js'
export { createDevnet } from './create-devnet.js'
export { DevnetError, type DevnetErrorCode, isDevnetError } from './errors.js'
export type { FaultKind, FaultOperation, Faults, FaultTarget, InjectedFault } from './faults.js'
export {
  defaultParameters,
  type FundsOptions,
  type Genesis,
  type TestWallets,
  testGenesis,
  testWallets,
} from './genesis.js'
export { chainViewOf } from './plugin/chain-view.js'
export type { ControlOptions } from './plugin/control-api.js'
export { type DevnetApisOptions, devnetApis, devnetControls } from './plugin/devnet-apis.js'
export { createSqlStore, type SqlStoreOptions, storedChainHas } from './store/sql-store.js'
export type * from './store/store.js'
export type { BlockChange } from './store/store.js'
export { createMemoryStore } from './store/store.js'
export type * from './types.js'
export type { RollBackOptions } from './types.js'
