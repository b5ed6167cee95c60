export {
  type BuiltPayments,
  buildPayments,
  type PayingTransaction,
  type PaymentsDraft,
} from './build-payments.js'
export { buildTransaction, mayPay } from './build-transaction.js'
export { selectCoins } from './coin-selection.js'
export { type OutputContent, type ScriptContent, toLayer1Output, toOutput } from './encode-output.js'
export {
  type BodyContent,
  encodeBody,
  encodeTransaction,
  encodeWitnesses,
  type RedeemerContent,
  type WitnessContent,
} from './encode-transaction.js'
export { isWalletError, WalletError, type WalletErrorCode, type WalletErrorDetails } from './errors.js'
export { keysFromSeedPhrase } from './keys/seed-phrase.js'
export { keysFromSigningKey, signingKey } from './keys/signing-key.js'
export type { NetworkId, SeedPhraseOptions, SigningKey, WalletKeys } from './keys/types.js'
export { isSatisfiedBy, keysOfNativeScript, type NativeScriptContent, nativeScript } from './native-script.js'
export { invalidDraft } from './plan.js'
export { addAssets, addValue, type Quantities, toValue } from './quantities.js'
export { signed, unsigned } from './signatures.js'
export type {
  BuildContext,
  BuiltTransaction,
  DraftInput,
  DraftMint,
  DraftOutput,
  PlaceOfInput,
  TransactionDraft,
} from './types.js'
