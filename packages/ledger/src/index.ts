export { decodeBech32Address, encodeBech32Address } from './address/bech32.js'
export { decodeAddress } from './address/decode.js'
export type {
  Address,
  ByronAddress,
  Credential,
  RewardAddress,
  ShelleyAddress,
  StakePointer,
} from './address/types.js'
export { compareBytes, concatBytes, equalBytes, fromHex, toHex } from './bytes.js'
export { type CborLimits, defaultLimits } from './cbor/limits.js'
export { CborReader, Major } from './cbor/reader.js'
export { assertWellFormed, isWellFormed } from './cbor/well-formed.js'
export { CborWriter } from './cbor/writer.js'
export { blake2b224, blake2b256 } from './crypto/blake2b.js'
export { verifySignature } from './crypto/ed25519.js'
export { sha3_256 } from './crypto/sha3.js'
export {
  AddressError,
  type AddressErrorCode,
  CborError,
  type CborErrorCode,
  DecodeError,
  type DecodeErrorCode,
  isDecodeError,
} from './errors.js'
export { ProtocolParametersError } from './parameters/errors.js'
export { parseProtocolParameters } from './parameters/parse.js'
export { slotToTime, timeToSlot } from './parameters/slots.js'
export type { ProtocolParameters, Rational, SlotConfig } from './parameters/types.js'
export type { RuleContext, UtxoView } from './rules/context.js'
export { type Effects, effects } from './rules/effects.js'
export { ScriptsNotJudgedError } from './rules/errors.js'
export { judge, judgePhaseOne, judgeStateful, judgeStateless } from './rules/judge.js'
export { judgeProfile } from './rules/profile.js'
export { isRetriable } from './rules/retry.js'
export { minimumFee, referenceScriptsFee, transactionSize } from './rules/utxo/fee.js'
export { minimumLovelace } from './rules/utxo/outputs.js'
export { judgeScripts, type PhaseTwo } from './rules/utxos/judge-scripts.js'
export { scriptIntegrityHash } from './rules/utxow/script-integrity.js'
export type { Json, PredicateFailure, Verdict } from './rules/verdict.js'
export { decodeTransaction, decodeTransactionBody, decodeTransactionOutput } from './transaction/decode.js'
export {
  decodeOutputReference,
  encodeOutputReference,
  outputReferenceKey,
} from './transaction/output-reference.js'
export { scriptHash } from './transaction/script/script.js'
export type * from './transaction/types.js'
