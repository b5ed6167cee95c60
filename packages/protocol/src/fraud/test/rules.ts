import type { Predicate } from '@ratatosk/ledger'
import type { LedgerFraudProof } from '../ledger-proofs.js'
import type { TransactionFraudProof } from '../transaction-proofs.js'
import type { WitnessFraudProof } from '../witness-proofs.js'

export type Claim = (LedgerFraudProof | TransactionFraudProof | WitnessFraudProof)['fraud']

/** A rule that verifiers of a block check, and that is no rule of a single transaction, or a part of one. */
export type BlockRule =
  | 'transactions decode'
  | 'transactions decode, in auxiliary data, stake pointers and behind 200 items of a string'
  | 'outputs that a transaction names decode'
  | 'the fees of a block are less than 2^64 lovelace'
  | 'the fees of a block with a bridge go to its operator'
  | 'a block has at most 1,024 chunks'
  | 'TooManyBytes, of a whole transaction'
  | 'BadInputsUTxO, of collateral'
  | 'MissingVKeyWitnessesUTXOW, of collateral'
  | 'transactions_root follows from the transactions'
  | 'utxos_root follows from the transactions'
  | 'deposits_root has just the deposits of layer 1'
  | 'transactions_root has no deposit that deposits_root lacks'
  | 'withdrawals_root has what transactions_root says to leave'
  | 'withdrawals_root has nothing else'
  | 'transactions_root says that what is paid to the bridge leaves'
  | 'BadInputsUTxO, of reading what has left'
  | 'BadInputsUTxO, of spending what has left'

const collateral = 'nothing: layer 2 takes no collateral'
const ownBytes = 'nothing: bytes that no rule reads'
const outcome = 'the outputs that a Plutus script guards, at the cost of the users who locked them'
const stop = 'nothing: what does not decode moves no more than what does'

/** Honest nodes refuse such a block, and nothing removes it. */
const unclaimed = 'what the bridge holds, until a claim shows it: a bridge is for the devnet only'

type Gain = `nothing: ${string}` | typeof outcome | typeof unclaimed

/** A lie about a rule. Tests tell it: see `rules.test.ts`. */
interface Told {
  readonly lie: string
  /** Predicates that the same transaction breaks by nature. */
  readonly besides?: readonly Predicate[]
  /** The claim of its smallest proof, where tests of the scripts prove the rule by others. */
  readonly foundAs?: Claim
}

/**
 * The claims that prove a breach of a rule; the operator's gain, if no claim proves it; the other rule that
 * it breaks too, or its name in another ledger version; or why no block breaks it.
 */
export type RuleRow =
  | (Told & { readonly claims: readonly Claim[] })
  | (Told & { readonly gain: Gain })
  | ((Told | object) & { readonly sameAs: Predicate | BlockRule })
  | { readonly never: string }

/** Every rule that verifiers judge a block by. A rule of `@ratatosk/ledger` needs a row to compile. */
export const ruleRows: { readonly [rule in BlockRule | Predicate]: RuleRow } = {
  'transactions decode': {
    claims: [
      'malformedPart',
      'strangeField',
      'strangeOutput',
      'strangeItem',
      'strangeWitness',
      'repeatedReference',
      'unreadableReference',
      'forbiddenField',
    ],
    lie: 'that a byte may follow a body',
  },
  'transactions decode, in auxiliary data, stake pointers and behind 200 items of a string': {
    gain: stop,
    lie: 'that a label of metadata may be a text',
  },
  'outputs that a transaction names decode': { gain: stop, lie: 'that a stake pointer need not end' },
  'the fees of a block are less than 2^64 lovelace': {
    sameAs: 'transactions_root follows from the transactions',
    foundAs: 'wrongFees',
    lie: 'that fees may be 2^64 lovelace',
  },
  'a block has at most 1,024 chunks': { claims: ['strangeEntry'], lie: 'that a block may have 1,025 chunks' },
  'TooManyBytes, of a whole transaction': {
    claims: ['wrongChunk'],
    lie: 'that a transaction may have 17,000 bytes',
  },
  'BadInputsUTxO, of collateral': { gain: collateral, lie: 'that collateral need not be there' },
  'MissingVKeyWitnessesUTXOW, of collateral': {
    gain: collateral,
    lie: 'that another owner has signed for collateral',
  },
  'transactions_root follows from the transactions': {
    claims: [
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
      'strayFromBefore',
    ],
    lie: 'that the fees are higher',
  },
  'utxos_root follows from the transactions': {
    claims: ['wrongOutputsAfter'],
    lie: 'that there is an output from nowhere after the block',
  },
  'deposits_root has just the deposits of layer 1': {
    gain: unclaimed,
    lie: 'that there is a deposit that layer 1 does not have',
  },
  'the fees of a block with a bridge go to its operator': {
    gain: unclaimed,
    lie: 'that no one gets the fees',
  },
  'transactions_root has no deposit that deposits_root lacks': {
    claims: ['strayFromBefore'],
    lie: 'that an output from before, which no one moves, is a deposit',
  },
  'withdrawals_root has what transactions_root says to leave': {
    claims: ['spentWithoutInput'],
    lie: 'that an output of the bridge is no withdrawal',
  },
  'withdrawals_root has nothing else': {
    gain: unclaimed,
    lie: 'that an output leaves that is not paid to the bridge',
  },
  'transactions_root says that what is paid to the bridge leaves': {
    gain: unclaimed,
    lie: 'that an output of the bridge stays',
  },
  'BadInputsUTxO, of reading what has left': {
    claims: ['referenceInputMissing'],
    lie: 'that a transaction can read what has left',
  },
  'BadInputsUTxO, of spending what has left': {
    claims: ['inputSpentElsewhere'],
    lie: 'that a transaction can spend what has left',
  },
  BadInputsUTxO: {
    claims: ['inputSpentElsewhere', 'strayFromBefore', 'spentBeforeMade', 'referenceInputMissing'],
    lie: 'that a transaction can read what never was',
  },
  ValueNotConservedUTxO: { claims: ['valueNotPreserved'], lie: 'that a transaction may make a lovelace' },
  FeeTooSmallUTxO: { claims: ['feeTooSmall'], lie: 'that a fee is enough' },
  BabbageOutputTooSmallUTxO: { claims: ['outputTooSmall'], lie: 'that an output has enough ada' },
  InputSetEmptyUTxO: {
    claims: ['noInputs'],
    lie: 'that a transaction may spend nothing',
    besides: ['ValueNotConservedUTxO'],
  },
  BabbageNonDisjointRefInputs: { claims: ['inputIsReferenceInput'], lie: 'that an input may be read too' },
  OutsideValidityIntervalUTxO: {
    claims: ['outsideInterval'],
    lie: 'that a transaction that ended with slot 0 is in time',
  },
  WrongNetwork: {
    claims: ['outputOnOtherNetwork'],
    lie: 'that an address of another network is of this one',
  },
  WrongNetworkInTxBody: {
    claims: ['wrongNetwork'],
    lie: 'that a transaction of another network is of this one',
  },
  WrongNetworkWithdrawal: {
    claims: ['forbiddenWithdrawal'],
    lie: 'that a script of another network may withdraw',
    besides: ['MissingScriptWitnessesUTXOW'],
  },
  InvalidWitnessesUTXOW: { claims: ['invalidSignature'], lie: 'that a signature is of these bytes' },
  MissingVKeyWitnessesUTXOW: { claims: ['missingSignature'], lie: 'that the owner has signed' },
  ScriptWitnessNotValidatingUTXOW: {
    claims: ['nativeScriptFails'],
    lie: 'that another operator has signed for a vault',
  },
  MissingScriptWitnessesUTXOW: { claims: ['scriptMissing'], lie: 'that a vault opens without its script' },
  MissingRedeemers: {
    claims: ['redeemerMissing'],
    lie: 'that a script has allowed it',
    besides: ['PPViewHashesDontMatch'],
  },
  MissingRequiredDatums: { claims: ['datumMissing'], lie: 'that a script has had its datum' },
  PPViewHashesDontMatch: {
    claims: ['wrongScriptDataHash'],
    lie: 'that a hash is of these redeemers and datums',
  },
  ScriptIntegrityHashMismatch: { sameAs: 'PPViewHashesDontMatch' },
  TooManyBytes: {
    claims: ['unreadablePart', 'tooLong'],
    lie: 'that a body may have more bytes than a proof shows',
  },
  TooManyItems: {
    claims: ['unreadablePart', 'unreadableScript'],
    lie: 'that a native script is short enough',
  },
  LongHeadsNotSupported: { claims: ['unreadablePart'], lie: 'that a number may have any length' },
  TooManyInputs: { claims: ['tooMany'], lie: 'that a transaction may have 61 inputs' },
  TooManyOutputs: { claims: ['tooMany'], lie: 'that a transaction may have 101 outputs' },
  TooManyKeyWitnesses: { claims: ['tooMany'], lie: 'that 33 keys may sign' },
  TooManyScriptWitnesses: { claims: ['tooMany'], lie: 'that there may be 21 scripts' },
  TooManyDatums: { claims: ['tooMany'], lie: 'that there may be 81 datums' },
  TooManyRedeemers: { claims: ['tooMany'], lie: 'that there may be 21 redeemers' },
  IndefiniteReferencesNotSupported: {
    claims: ['unreadableReference'],
    lie: 'that a reference may have indefinite length',
  },
  IndefiniteKeyWitnessesNotSupported: {
    claims: ['strangeWitness'],
    lie: 'that a key witness may have indefinite length',
  },
  IndefiniteTransactionNotSupported: {
    claims: ['wrongChunk'],
    foundAs: 'malformedPart',
    lie: 'that a transaction may have indefinite length',
  },
  InvalidTransactionsNotSupported: { claims: ['wrongChunk'], lie: 'that a transaction has failed' },
  MissingTxMetadata: { claims: ['wrongChunk'], lie: 'that auxiliary data need not be there' },
  MissingTxBodyMetadataHash: { claims: ['wrongChunk'], lie: 'that a body need not name auxiliary data' },
  ConflictingMetadataHash: { claims: ['wrongChunk'], lie: 'that a body may name other auxiliary data' },
  ByronAddressesNotSupported: {
    claims: ['outputOnOtherNetwork'],
    lie: 'that an address may be of the Byron era',
  },
  OutputBootAddrAttrsTooBig: { sameAs: 'ByronAddressesNotSupported' },
  WithdrawalsNotSupported: { claims: ['forbiddenWithdrawal'], lie: 'that a key may withdraw' },
  CertificatesNotSupported: { claims: ['forbiddenField'], lie: 'that there may be a certificate' },
  VotesNotSupported: { claims: ['forbiddenField'], lie: 'that there may be a vote' },
  ProposalsNotSupported: { claims: ['forbiddenField'], lie: 'that there may be a proposal' },
  DonationsNotSupported: { claims: ['forbiddenField'], lie: 'that there may be a donation' },
  TreasuryValueNotSupported: { claims: ['forbiddenField'], lie: 'that a transaction may name the treasury' },
  ConwayTreasuryValueMismatch: { sameAs: 'TreasuryValueNotSupported' },
  MaxTxSizeUTxO: { sameAs: 'TooManyBytes, of a whole transaction' },
  ValidationTagMismatch: { gain: outcome, lie: 'that a script that fails has allowed it' },
  CollectErrors: { gain: outcome, lie: 'that a script of Plutus V1 can see an inline datum' },
  UnspendableUTxONoDatumHash: { gain: outcome, lie: 'that a script of Plutus V2 needs no datum' },
  MalformedScriptWitnesses: { gain: outcome, lie: 'that a script that cannot be read has allowed it' },
  MalformedReferenceScripts: {
    gain: 'nothing: the script cannot run',
    lie: 'that a reference script need not be readable',
  },
  ExtraRedeemers: { gain: ownBytes, lie: 'that a redeemer need not be for a script' },
  ExtraneousScriptWitnessesUTXOW: { gain: ownBytes, lie: 'that a script need not be needed' },
  NotAllowedSupplementalDatums: { gain: ownBytes, lie: 'that a datum need not belong to an output' },
  OutputTooBigUTxO: { gain: ownBytes, lie: 'that a value may have 5,001 bytes' },
  ConwayTxRefScriptsSizeTooBig: { sameAs: 'TooManyBytes' },
  ExUnitsTooBigUTxO: {
    gain: 'nothing: the fee, which a claim proves, pays for the units',
    lie: 'that a script may take 20,000,000 units of memory',
  },
  InvalidMetadata: {
    gain: 'nothing: a script in auxiliary data never runs',
    lie: 'that a script in auxiliary data need not be readable',
  },
  CollateralContainsNonADA: { gain: collateral, lie: 'that collateral may hold a token' },
  IncorrectTotalCollateralField: { gain: collateral, lie: 'that a sum of collateral is right' },
  InsufficientCollateral: { gain: collateral, lie: 'that collateral is enough' },
  NoCollateralInputs: {
    gain: collateral,
    lie: 'that scripts need no collateral',
    besides: ['InsufficientCollateral'],
  },
  ScriptsNotPaidUTxO: { gain: collateral, lie: 'that a script may guard collateral' },
  TooManyCollateralInputs: { gain: collateral, lie: 'that there may be 4 collateral inputs' },
  BridgedPolicyMinted: {
    gain: unclaimed,
    lie: 'that layer 2 may mint what comes from layer 1',
  },
  WithdrawalMalformed: { never: 'only admission asks: what cannot be paid is lost by its author alone' },
  OutsideForecast: { never: 'blocks are judged without a horizon' },
}
