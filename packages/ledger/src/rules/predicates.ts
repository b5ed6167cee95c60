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
