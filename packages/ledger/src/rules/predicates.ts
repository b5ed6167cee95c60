/** A rule of the ledger that a transaction can break, by the constructor of the Haskell ledger. */
type LedgerPredicate =
  | 'BabbageNonDisjointRefInputs'
  | 'BabbageOutputTooSmallUTxO'
  | 'BadInputsUTxO'
  | 'CollateralContainsNonADA'
  | 'CollectErrors'
  | 'ConflictingMetadataHash'
  | 'ConwayTreasuryValueMismatch'
  | 'ConwayTxRefScriptsSizeTooBig'
  | 'ExUnitsTooBigUTxO'
  | 'ExtraRedeemers'
  | 'ExtraneousScriptWitnessesUTXOW'
  | 'FeeTooSmallUTxO'
  | 'IncorrectTotalCollateralField'
  | 'InputSetEmptyUTxO'
  | 'InsufficientCollateral'
  | 'InvalidMetadata'
  | 'InvalidWitnessesUTXOW'
  | 'MalformedReferenceScripts'
  | 'MalformedScriptWitnesses'
  | 'MaxTxSizeUTxO'
  | 'MissingRedeemers'
  | 'MissingRequiredDatums'
  | 'MissingScriptWitnessesUTXOW'
  | 'MissingTxBodyMetadataHash'
  | 'MissingTxMetadata'
  | 'MissingVKeyWitnessesUTXOW'
  | 'NoCollateralInputs'
  | 'NotAllowedSupplementalDatums'
  | 'OutputBootAddrAttrsTooBig'
  | 'OutputTooBigUTxO'
  | 'OutsideForecast'
  | 'OutsideValidityIntervalUTxO'
  | 'PPViewHashesDontMatch'
  | 'ScriptIntegrityHashMismatch'
  | 'ScriptWitnessNotValidatingUTXOW'
  | 'ScriptsNotPaidUTxO'
  | 'TooManyCollateralInputs'
  | 'UnspendableUTxONoDatumHash'
  | 'ValidationTagMismatch'
  | 'ValueNotConservedUTxO'
  | 'WrongNetwork'
  | 'WrongNetworkInTxBody'
  | 'WrongNetworkWithdrawal'

/** A rule of the layer-2 profile that a transaction can break. */
type ProfilePredicate =
  | 'BridgedPolicyMinted'
  | 'ByronAddressesNotSupported'
  | 'CertificatesNotSupported'
  | 'DonationsNotSupported'
  | 'IndefiniteKeyWitnessesNotSupported'
  | 'IndefiniteReferencesNotSupported'
  | 'IndefiniteTransactionNotSupported'
  | 'InvalidTransactionsNotSupported'
  | 'LongHeadsNotSupported'
  | 'ProposalsNotSupported'
  | 'TooManyBytes'
  | 'TooManyDatums'
  | 'TooManyInputs'
  | 'TooManyItems'
  | 'TooManyKeyWitnesses'
  | 'TooManyOutputs'
  | 'TooManyRedeemers'
  | 'TooManyScriptWitnesses'
  | 'TreasuryValueNotSupported'
  | 'VotesNotSupported'
  | 'WithdrawalMalformed'
  | 'WithdrawalsNotSupported'

/** The name of a rule that a transaction can break. */
export type Predicate = LedgerPredicate | ProfilePredicate

/** A JSON value. Amounts are decimal strings, hashes hex. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/**
 * A rule that a transaction breaks. `predicate` is the name of the constructor in the Haskell ledger
 * (`FeeTooSmallUTxO`) or a name of the layer-2 profile. `details` has what a client needs to correct the
 * transaction.
 */
export interface PredicateFailure {
  readonly predicate: string
  readonly message: string
  readonly details: { readonly [key: string]: Json }
}

/** Every rule that a transaction breaks; empty if it breaks none. */
export type Failures = readonly PredicateFailure[]

export class Findings {
  readonly failures: PredicateFailure[] = []

  add(predicate: Predicate, message: string, details: { readonly [key: string]: Json } = {}): void {
    this.failures.push({ predicate, message, details })
  }
}

/**
 * Whether the transaction may become valid later: it fails only because of unknown inputs, or of a
 * validity interval that has not begun. A transaction that breaks another rule never
 * becomes valid.
 *
 * @param slot the current slot, which may be later than the slot of the failures
 * @param last the last slot in which there will be another try; by default, there is no last one
 * @returns false for an empty failures
 * @example
 * const failures = validateStateful(transaction, utxos, context)
 * const mayPassLater = isRetriable(failures, context.slot)
 */
export function isRetriable(failures: Failures, slot: bigint, last?: bigint): boolean {
  return failures.length > 0 && failures.every((failure) => mayPass(failure, slot, last))
}

function mayPass({ predicate, details }: PredicateFailure, slot: bigint, last: bigint | undefined): boolean {
  if (predicate === 'BadInputsUTxO') return true
  if (predicate !== 'OutsideValidityIntervalUTxO') return false
  const { invalidBefore, invalidHereafter } = details
  if (last !== undefined && typeof invalidBefore === 'string' && BigInt(invalidBefore) > last) return false
  if (typeof invalidHereafter !== 'string') return true
  const end = BigInt(invalidHereafter)
  const empty = typeof invalidBefore === 'string' && BigInt(invalidBefore) >= end
  return slot < end && !empty
}
