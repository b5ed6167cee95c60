export { addressText, readAddressText } from './chain/address-text.js'
export type * from './chain/types.js'
export { type AskOptions, createDevnetClient, type DevnetClient } from './client.js'
export { createDevnet } from './create-devnet.js'
export { DevnetError, type DevnetErrorCode, isDevnetError } from './errors.js'
export { type DevnetFacesOptions, devnetFaces } from './faces/devnet-faces.js'
export type { Face, Fault, FaultKind, Faults, Operation } from './faults/types.js'
export type { Genesis } from './genesis/genesis.js'
export { defaultParameters } from './genesis/parameters.js'
export {
  type FundsOptions,
  type TestWallet,
  type TestWallets,
  testGenesis,
  testWallets,
} from './genesis/wallets.js'
export { createMemoryStore } from './store/memory-store.js'
export { createSqlStore, type SqlConnection, type SqlStoreOptions } from './store/sql-store.js'
export type * from './store/types.js'
export type * from './types.js'
