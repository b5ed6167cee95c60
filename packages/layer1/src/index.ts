export {
  type FailureKind,
  failureCause,
  isLayer1Error,
  isProtocolError,
  isWalletError,
  Layer1Error,
  type Layer1ErrorCode,
  ProtocolError,
  type ProtocolErrorCode,
  WalletError,
  type WalletErrorCode,
} from './errors.js'
export { keysFromSeedPhrase } from './keys/seed-phrase.js'
export { keysFromSigningKey, signingKey } from './keys/signing-key.js'
export type * from './keys/types.js'
export {
  type Contract,
  type ContractParameters,
  type Contracts,
  inOrder,
  openContracts,
  publishScripts,
} from './protocol/contracts.js'
export {
  burnElements,
  type Commit,
  commitBlock,
  firstSlotFrom,
  initQueue,
  MAX_BURNED_ELEMENTS,
  type Merge,
  mergeBlock,
} from './protocol/queue-drafts.js'
export {
  initRegistry,
  type RegistryElement,
  readRegistry,
  registerOperator,
  releaseBond,
  retireOperator,
} from './protocol/registry-drafts.js'
export {
  allElements,
  type BlockElement,
  type RootElement,
  readStateQueue,
  type StateQueue,
} from './protocol/state-queue.js'
export {
  type BlockfrostOptions,
  createBlockfrostLayer1,
} from './providers/blockfrost/create-blockfrost-layer1.js'
export { createDevnetLayer1 } from './providers/devnet/create-devnet-layer1.js'
export type * from './providers/devnet/devnet-port.js'
export { createKupmiosLayer1, type KupmiosOptions } from './providers/kupmios/create-kupmios-layer1.js'
export { buildTransaction } from './transaction/build-transaction.js'
export type { ScriptContent } from './transaction/encode-output.js'
export type * from './transaction/types.js'
export type * from './types.js'
export { selectCoins } from './wallet/coin-selection.js'
export { type BuildOptions, openWallet, type Wallet, type WalletOptions } from './wallet/open-wallet.js'
