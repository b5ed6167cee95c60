export { createFaucetPayer, type FaucetPayer, type FaucetPayerOptions } from './create-faucet-payer.js'
export {
  createLayer1FaucetWallet,
  createLayer2FaucetWallet,
  type Layer1FaucetWalletOptions,
  type Layer2FaucetWalletOptions,
} from './layer-wallets.js'
export type { FaucetWallet, PaymentDraft, PaymentStatus, Preparation, Sending } from './wallet.js'
export { FaucetPayerError, type FaucetPayerErrorCode, isFaucetPayerError } from './wallet.js'
