export { apis, apis as default } from './apis.js'
export { metadatumJson, plutusJson } from './blockfrost/data-json.js'
export { protocolParametersJson } from './blockfrost/parameters-json.js'
export { amountJson } from './blockfrost/transaction-json.js'
export { ChainUnavailableError, isChainUnavailable } from './errors.js'
export { type EvaluationContext, evaluateTransaction } from './evaluation/evaluation.js'
export { garbage } from './faults/fault-hook.js'
export type * from './faults/faults.js'
export type { RequestFault } from './faults/faults.js'
export {
  apiPath,
  type FieldRule,
  faultOfFields,
  faultOfNames,
  longestTimer,
  oneOf,
  optional,
  optionsOfFastify,
  wholeNumber,
  withMethods,
} from './field-rules.js'
export { type ApisOptions, apisRules, type OgmiosVersion, ogmiosVersions, routerOptions } from './options.js'
export { createPause } from './pause.js'
export { addressText, readAddressText } from './view/address-text.js'
export { deposits, isStakeCertificate, registers, stakeCredentialOf } from './view/certificates.js'
export type * from './view/chain-view.js'
export type { AddressTransaction, Awaitable } from './view/chain-view.js'
export {
  comparePlaces,
  holdsFor,
  isInSlots,
  isWithin,
  partOf,
  paymentCredential,
  stakeCredential,
  units,
} from './view/outputs.js'
