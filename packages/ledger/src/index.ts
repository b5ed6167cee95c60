export { blake2b160, blake2b224, blake2b256, verifySignature } from '#crypto'
export {
  decodeAddress,
  decodeBech32Address,
  encodeBech32Address,
  keyAddress,
  scriptAddress,
} from './address/address.js'
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
export type { ProtocolParameters, Rational, SlotConfig } from './parameters/types.js'
export { forecastHorizon, safeZone, slotToTime, timeToSlot } from './parameters/types.js'
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
export type { Failures, Json, Predicate, PredicateFailure } from './rules/predicates.js'
export { isRetriable } from './rules/predicates.js'
export {
  profileLimits,
  validateMint,
  validatePart,
  validateProfile,
  validateProfileOfInputs,
} from './rules/profile.js'
export { type RedeemerTarget, redeemerTargets } from './rules/script-use.js'
export { minimumFee, minimumLovelace, referenceScriptsFee, transactionSize } from './rules/utxo.js'
export { type PhaseTwo, type RedeemerFault, redeemerFaults, validateScripts } from './rules/utxos.js'
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
export { metadataLabels } from './transaction/auxiliary-data.js'
export {
  decodeLayer1Output,
  decodeLayer1Transaction,
  decodeNativeScript,
  decodeTransaction,
  decodeTransactionBody,
  decodeTransactionOutput,
  decodeUtxo,
  encodeUtxo,
  layer1Limits,
  transactionIdOf,
} from './transaction/decode.js'
export { splitUnit } from './transaction/output.js'
export {
  byReference,
  decodeOutputReference,
  encodeOutputReference,
  outputReferenceKey,
} from './transaction/output-reference.js'
export { scriptHash } from './transaction/script/script.js'
export type * from './transaction/types.js'
