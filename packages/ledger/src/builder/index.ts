export {
  type BuiltPayments,
  buildPayments,
  type PayingTransaction,
  type PaymentsDraft,
} from './build-payments.js'
export { buildTransaction, mayPay } from './build-transaction.js'
export { addAssets, addValue, type Quantities, selectCoins, toValue } from './coin-selection.js'
export {
  type BodyContent,
  encodeBody,
  encodeTransaction,
  encodeWitnesses,
  type OutputContent,
  type RedeemerContent,
  type ScriptContent,
  toLayer1Output,
  toOutput,
  type WitnessContent,
} from './encode.js'
export { isWalletError, WalletError, type WalletErrorCode, type WalletErrorDetails } from './errors.js'
export type { NetworkId, SeedPhraseOptions, SigningKey, WalletKeys } from './keys.js'
export { keysFromSeedPhrase, keysFromSigningKey, signed, signingKey, unsigned } from './keys.js'
export { isSatisfiedBy, keysOfNativeScript, type NativeScriptContent, nativeScript } from './native-script.js'
export { invalidDraft } from './plan.js'
export type {
  BuildContext,
  BuiltTransaction,
  DraftInput,
  DraftMint,
  DraftOutput,
  PlaceOfInput,
  TransactionDraft,
} from './types.js'
