import type { LedgerFraudProof, TransactionFraudProof, WitnessFraudProof } from '@ratatosk/fraud'
import type { Predicate } from '@ratatosk/ledger'

export type Claim = (LedgerFraudProof | TransactionFraudProof | WitnessFraudProof)['fraud']

/** A rule that verifiers of a block check, and that is no rule of a single transaction. */
export type BlockRule =
  | 'transactions decode'
  | 'transactions decode, in auxiliary data, stake pointers and behind 200 items of a string'
  | 'transactions_root follows from the transactions'
  | 'utxos_root follows from the transactions'

const collateral = 'nothing: layer 2 takes no collateral'
const ownBytes = 'nothing: bytes that no rule reads, within limits that claims prove'
const outcome = 'the outputs that a Plutus script guards, at the cost of the users who locked them'

const undecoded = 'nothing: but operators stop at a block that only the administrator removes'

/**
 * The claims that prove that a block breaks the rule; the rule that it breaks as well, or that has this name
 * in another ledger version; or what its operator gains, as no claim proves it.
 */
export type Provability = readonly Claim[] | Predicate | `nothing: ${string}` | typeof outcome

/** Every rule that verifiers judge a block by. A rule of `@ratatosk/ledger` needs a row to compile. */
export const provableRules: { readonly [rule in BlockRule | Predicate]: Provability } = {
  'transactions decode': [
    'malformedPart',
    'strangeField',
    'strangeOutput',
    'strangeItem',
    'strangeWitness',
    'repeatedReference',
    'unreadableReference',
    'forbiddenField',
  ],
  'transactions decode, in auxiliary data, stake pointers and behind 200 items of a string': undecoded,
  'transactions_root follows from the transactions': [
    'spentWithoutInput',
    'outputNotNoted',
    'inventedOutput',
    'inputSpentElsewhere',
    'wrongResolved',
    'wrongResolvedHash',
    'gapInTransactions',
    'strangeEntry',
    'wrongFees',
    'wrongLength',
    'wrongChunk',
    'tooLong',
    'spentThatNeverWas',
  ],
  'utxos_root follows from the transactions': ['wrongOutputsAfter'],
  BadInputsUTxO: ['inputSpentElsewhere', 'spentThatNeverWas', 'spentBeforeMade', 'referenceInputMissing'],
  ValueNotConservedUTxO: ['valueNotPreserved'],
  FeeTooSmallUTxO: ['feeTooSmall'],
  BabbageOutputTooSmallUTxO: ['outputTooSmall'],
  InputSetEmptyUTxO: ['noInputs'],
  BabbageNonDisjointRefInputs: ['inputIsReferenceInput'],
  OutsideValidityIntervalUTxO: ['outsideInterval'],
  WrongNetwork: ['outputOnOtherNetwork'],
  WrongNetworkInTxBody: ['wrongNetwork'],
  WrongNetworkWithdrawal: ['forbiddenWithdrawal'],
  InvalidWitnessesUTXOW: ['invalidSignature'],
  MissingVKeyWitnessesUTXOW: ['missingSignature'],
  ScriptWitnessNotValidatingUTXOW: ['nativeScriptFails'],
  MissingScriptWitnessesUTXOW: ['scriptMissing'],
  MissingRedeemers: ['redeemerMissing'],
  MissingRequiredDatums: ['datumMissing'],
  PPViewHashesDontMatch: ['wrongScriptDataHash'],
  ScriptIntegrityHashMismatch: 'PPViewHashesDontMatch',
  TooManyBytes: ['unreadablePart', 'tooLong'],
  TooManyItems: ['unreadablePart', 'unreadableScript'],
  LongHeadsNotSupported: ['unreadablePart'],
  TooManyInputs: ['tooMany'],
  TooManyOutputs: ['tooMany'],
  TooManyKeyWitnesses: ['tooMany'],
  TooManyScriptWitnesses: ['tooMany'],
  TooManyDatums: ['tooMany'],
  TooManyRedeemers: ['tooMany'],
  IndefiniteReferencesNotSupported: ['unreadableReference'],
  IndefiniteKeyWitnessesNotSupported: ['strangeWitness'],
  IndefiniteTransactionNotSupported: ['wrongChunk'],
  InvalidTransactionsNotSupported: ['wrongChunk'],
  MissingTxMetadata: ['wrongChunk'],
  MissingTxBodyMetadataHash: ['wrongChunk'],
  ConflictingMetadataHash: ['wrongChunk'],
  ByronAddressesNotSupported: ['outputOnOtherNetwork'],
  OutputBootAddrAttrsTooBig: 'ByronAddressesNotSupported',
  WithdrawalsNotSupported: ['forbiddenWithdrawal'],
  CertificatesNotSupported: ['forbiddenField'],
  VotesNotSupported: ['forbiddenField'],
  ProposalsNotSupported: ['forbiddenField'],
  DonationsNotSupported: ['forbiddenField'],
  TreasuryValueNotSupported: ['forbiddenField'],
  ConwayTreasuryValueMismatch: 'TreasuryValueNotSupported',
  MaxTxSizeUTxO: ownBytes,
  ValidationTagMismatch: outcome,
  CollectErrors: outcome,
  UnspendableUTxONoDatumHash: outcome,
  MalformedScriptWitnesses: outcome,
  MalformedReferenceScripts: 'nothing: the script cannot run',
  ExtraRedeemers: ownBytes,
  ExtraneousScriptWitnessesUTXOW: ownBytes,
  NotAllowedSupplementalDatums: ownBytes,
  OutputTooBigUTxO: ownBytes,
  ConwayTxRefScriptsSizeTooBig: 'nothing: the fee, which a claim proves, pays for the bytes',
  ExUnitsTooBigUTxO: 'nothing: the fee, which a claim proves, pays for the units',
  InvalidMetadata: 'nothing: a script in auxiliary data never runs',
  CollateralContainsNonADA: collateral,
  IncorrectTotalCollateralField: collateral,
  InsufficientCollateral: collateral,
  NoCollateralInputs: collateral,
  ScriptsNotPaidUTxO: collateral,
  TooManyCollateralInputs: collateral,
  OutsideForecast: 'nothing: a transaction of Plutus scripts with a far upper bound',
}
