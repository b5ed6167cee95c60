export { type ReplayQueue, replayDeadLetter } from './dead-letters/replay.js'
export { createLayer1FaucetWallet, type Layer1FaucetWalletOptions } from './faucet/layer1-wallet.js'
export { createLayer2FaucetWallet, type Layer2FaucetWalletOptions } from './faucet/layer2-wallet.js'
export type * from './faucet/types.js'
export { createOperations } from './operations/create-operations.js'
export { serveOperations } from './operations/serve-operations.js'
export type * from './operations/types.js'
export { RootsError, type RootsErrorCode } from './roots/errors.js'
export { openRoots } from './roots/open-roots.js'
export type { BlockRoots, Roots, RootsOptions, UnspentOutput } from './roots/types.js'
export { createSequencer } from './sequencer/create-sequencer.js'
export { operationUnderWay } from './sequencer/operation-lock.js'
export type * from './sequencer/types.js'
export type { Log, ValidationStats } from './validation/activity.js'
export {
  createValidationWorker,
  type ValidationWorker,
  type ValidationWorkerOptions,
} from './validation/validation-worker.js'
