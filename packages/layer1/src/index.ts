export {
  failureCause,
  isLayer1Away,
  isLayer1Error,
  Layer1Error,
  type Layer1ErrorCode,
  type Layer1ErrorDetails,
} from './errors.js'
export {
  createOutbox,
  type Outbox,
  type OutboxOptions,
  type OutboxSending,
  type OutboxState,
  type OutboxTransaction,
} from './outbox.js'
export {
  type BlockfrostOptions,
  createBlockfrostLayer1,
} from './providers/blockfrost/create-blockfrost-layer1.js'
export {
  type ChainPoint,
  createDevnetLayer1,
  type DevnetFault,
  type DevnetOperation,
  type DevnetPort,
  type DevnetSubmission,
  type PortEvaluation,
} from './providers/devnet/create-devnet-layer1.js'
export { createKupmiosLayer1, type KupmiosOptions } from './providers/kupmios/create-kupmios-layer1.js'
export { type Layer1Reads, type SharedReads, type SharedReadsOptions, shareReads } from './shared-reads.js'
export type * from './types.js'
export type { AwaitOptions } from './types.js'
export {
  type Authority,
  keyAuthority,
  type ScriptAuthorityOptions,
  scriptAuthority,
} from './wallet/authority.js'
export {
  type BuildOptions,
  missingInputs,
  openWallet,
  type Wallet,
  type WalletOptions,
} from './wallet/open-wallet.js'
