import { DecodeError } from '@ratatosk/cbor'
import type { EvaluationFailure } from './rules/script-evaluator.js'

/** Why text or bytes do not decode as the expected kind of address. */
export type AddressErrorCode =
  /** Not bech32: wrong alphabet, checksum, separator or padding, or mixed case. Includes Byron's base58. */
  | 'ADDRESS_NOT_BECH32'
  /** Valid bech32, but the prefix belongs to no address, or to another kind than the bytes encode. */
  | 'ADDRESS_WRONG_PREFIX'
  /** Prefix and header disagree about the network, or the network id is neither 0 nor 1. */
  | 'ADDRESS_WRONG_NETWORK'
  /** Too few or too many bytes for the type of address in the header. */
  | 'ADDRESS_WRONG_LENGTH'
  /** The header byte has an address type that CIP-19 does not define. */
  | 'ADDRESS_UNKNOWN_TYPE'
  /** A reward address where a payment address is required, or the reverse. */
  | 'ADDRESS_WRONG_KIND'
  /** Invalid CBOR, root or checksum in a Byron address, or an invalid number in a stake pointer. */
  | 'ADDRESS_MALFORMED'

/**
 * Text or bytes are not an address, or not an address of the required kind. `code` is an
 * {@link AddressErrorCode}; `offset` is a byte offset (0 for text).
 */
export class AddressError extends DecodeError {
  override readonly name = 'AddressError'
  declare readonly code: AddressErrorCode

  constructor(code: AddressErrorCode, offset: number, reason: string) {
    super(code, offset, reason)
  }
}

/** Whether a caught value is an {@link AddressError}, from any copy of this package. */
export function isAddressError(value: unknown): value is AddressError {
  return value instanceof Error && value.name === 'AddressError'
}

/**
 * Protocol parameters are invalid. `field` is the path of the invalid field (empty for the whole document);
 * the message says what is expected there. `code` is always `LEDGER_INVALID_PARAMETERS`.
 */
export class ProtocolParametersError extends Error {
  override readonly name = 'ProtocolParametersError'
  readonly code = 'LEDGER_INVALID_PARAMETERS'

  constructor(
    readonly field: string,
    reason: string,
  ) {
    super(field === '' ? `protocol parameters: ${reason}` : `protocol parameters: ${field}: ${reason}`)
  }
}

/** Whether a caught value is a {@link ProtocolParametersError}, from any copy of this package. */
export function isProtocolParametersError(value: unknown): value is ProtocolParametersError {
  return value instanceof Error && value.name === 'ProtocolParametersError'
}

/**
 * The scripts of a transaction were not run: there is no evaluator, or it failed. The transaction may be
 * valid or invalid. `code` is always `LEDGER_SCRIPTS_NOT_RUN`.
 */
export class ScriptsNotRunError extends Error {
  override readonly name = 'ScriptsNotRunError'
  readonly code = 'LEDGER_SCRIPTS_NOT_RUN'

  /** @param failure how the evaluator failed; absent if no evaluator was given */
  constructor(readonly failure?: EvaluationFailure) {
    super(failure ? `scripts not run: ${failure.message}` : 'scripts not run: no evaluator was given')
  }
}

/** Whether a caught value is a {@link ScriptsNotRunError}, from any copy of this package. */
export function isScriptsNotRunError(value: unknown): value is ScriptsNotRunError {
  return value instanceof Error && value.name === 'ScriptsNotRunError'
}

/** Why an evaluator did not run the scripts of a transaction. */
export type EvaluatorErrorCode =
  /** The evaluator is closed, or was closed before the evaluation finished. */
  | 'EVALUATOR_CLOSED'
  /** The queue holds `queueLimit` evaluations. Retry later. */
  | 'EVALUATOR_BUSY'

/** An evaluator did not run the scripts of a transaction, which may be valid or invalid. */
export class EvaluatorError extends Error {
  override readonly name = 'EvaluatorError'

  constructor(
    readonly code: EvaluatorErrorCode,
    message: string,
  ) {
    super(message)
  }
}

/** Whether a caught value is an {@link EvaluatorError}, from any copy of this package. */
export function isEvaluatorError(value: unknown): value is EvaluatorError {
  return value instanceof Error && value.name === 'EvaluatorError'
}

/** How the transactions of a sequence contradict each other. */
export type EffectsErrorCode =
  /** A transaction spends `reference`, which it or an earlier one has spent. */
  | 'EFFECTS_DOUBLE_SPEND'
  /** A transaction produces `reference`, which an earlier one spends. */
  | 'EFFECTS_SPENT_BEFORE_PRODUCED'
  /** A transaction produces `reference`, which an earlier one produces. */
  | 'EFFECTS_OUTPUT_EXISTS'

/** The transactions of a sequence contradict each other in this order. */
export class EffectsError extends Error {
  override readonly name = 'EffectsError'

  /**
   * @param reference `<64 hex digits>#<index>`
   * @param position of the transaction in the sequence, from 0
   */
  constructor(
    readonly code: EffectsErrorCode,
    message: string,
    readonly reference: string,
    readonly position: number,
  ) {
    super(message)
  }
}

/** Whether a caught value is an {@link EffectsError}, from any copy of this package. */
export function isEffectsError(value: unknown): value is EffectsError {
  return value instanceof Error && value.name === 'EffectsError'
}

/** Bytes are not Plutus data, or the data does not have the expected shape. The message names the field. */
export class PlutusDataError extends Error {
  override readonly name = 'PlutusDataError'
  readonly code = 'PLUTUS_DATA_MALFORMED'
}

/** Whether a caught value is a {@link PlutusDataError}, from any copy of this package. */
export function isPlutusDataError(value: unknown): value is PlutusDataError {
  return value instanceof Error && value.name === 'PlutusDataError'
}
