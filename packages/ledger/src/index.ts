export { blake2b160, blake2b224, blake2b256, verifySignature } from '#crypto'
export { decodeBech32Address, encodeBech32Address } from './address/bech32.js'
export { decodeAddress } from './address/decode.js'
export { keyAddress, scriptAddress } from './address/shelley.js'
export type {
  Address,
  ByronAddress,
  Credential,
  RewardAddress,
  ShelleyAddress,
  StakePointer,
} from './address/types.js'
export {
  AddressError,
  type AddressErrorCode,
  EffectsError,
  type EffectsErrorCode,
  isAddressError,
  isEffectsError,
  isProtocolParametersError,
  isScriptsNotRunError,
  ProtocolParametersError,
  ScriptsNotRunError,
} from './errors.js'
export { parseProtocolParameters } from './parameters/parse.js'
export { forecastHorizon, safeZone, slotToTime, timeToSlot } from './parameters/slots.js'
export type { ProtocolParameters, Rational, SlotConfig } from './parameters/types.js'
export type { RuleContext, UtxoView } from './rules/context.js'
export {
  type AppliedTransaction,
  appliedTransaction,
  createNetEffects,
  type Effects,
  effects,
  type NetEffects,
  type NetProduced,
  type NetSpent,
} from './rules/effects.js'
export { validatePart } from './rules/encoding.js'
export type { Failures, Json, Predicate, PredicateFailure } from './rules/predicates.js'
export { validateMint, validateProfile, validateProfileOfInputs } from './rules/profile.js'
export { profileLimits } from './rules/profile-limits.js'
export { type RedeemerFault, redeemerFaults } from './rules/redeemer-faults.js'
export { isRetriable } from './rules/retry.js'
export { type RedeemerTarget, redeemerTargets } from './rules/script-use.js'
export { minimumFee, minimumLovelace, referenceScriptsFee, transactionSize } from './rules/utxo.js'
export { type PhaseTwo, validateScripts } from './rules/utxos.js'
export {
  type CostModels,
  languageViews,
  satisfies as satisfiesNativeScript,
  scriptIntegrityHash,
  signatories as signatoriesOf,
} from './rules/utxow.js'
export {
  validate,
  validatePhaseOne,
  validateSignatures,
  validateStateful,
  validateStateless,
  validateUnsigned,
} from './rules/validate.js'
export {
  decodeLayer1Output,
  decodeLayer1Transaction,
  decodeNativeScript,
  decodeTransaction,
  decodeTransactionBody,
  decodeTransactionOutput,
  layer1Limits,
} from './transaction/decode.js'
export { metadataLabels } from './transaction/metadata.js'
export {
  byReference,
  decodeOutputReference,
  encodeOutputReference,
  outputReferenceKey,
} from './transaction/output-reference.js'
export { scriptHash } from './transaction/script/script.js'
export { transactionIdOf } from './transaction/transaction-id.js'
export type * from './transaction/types.js'
export { decodeUtxo, encodeUtxo } from './transaction/utxo.js'
export { splitUnit } from './transaction/value.js'
