/** The remedies for broken rules of the ledger, for people; docs/errors.md repeats them. */
export const remedies: readonly { readonly predicates: readonly string[]; readonly remedy: string }[] = [
  {
    predicates: ['BadInputsUTxO', 'InputSetEmptyUTxO'],
    remedy:
      'Read the unspent outputs of layer 2 again, and build from them: an input is spent, or was never there',
  },
  {
    predicates: ['ValueNotConservedUTxO'],
    remedy: 'Make inputs and mint equal outputs, fee and burn; a wallet that read layer 1 chose other inputs',
  },
  {
    predicates: ['ByronAddressesNotSupported'],
    remedy: 'Pay to an address of the Shelley era: outputs at Byron addresses could not leave layer 2',
  },
  { predicates: ['FeeTooSmallUTxO'], remedy: 'Pay at least the fee that the details name' },
  {
    predicates: ['OutsideValidityIntervalUTxO'],
    remedy:
      'Let it be valid for at least twice `BLOCK_VALIDITY_MS` (20 s on a devnet, 4 min elsewhere): layer 2 ' +
      'runs ahead of the slot clock of `/network`',
  },
  {
    predicates: ['OutsideForecast'],
    remedy: 'Let it end before the horizon that the details name',
  },
  {
    predicates: ['MissingVKeyWitnessesUTXOW', 'InvalidWitnessesUTXOW'],
    remedy:
      'Sign the final body with every key that the details name; any later change makes signatures invalid',
  },
  {
    predicates: ['BabbageOutputTooSmallUTxO'],
    remedy: 'Put at least the lovelace into the output that the details name',
  },
  {
    predicates: [
      'OutputTooBigUTxO',
      'MaxTxSizeUTxO',
      'TooManyItems',
      'TooManyBytes',
      'TooManyInputs',
      'TooManyOutputs',
      'TooManyKeyWitnesses',
      'TooManyScriptWitnesses',
      'TooManyDatums',
      'TooManyRedeemers',
      'ConwayTxRefScriptsSizeTooBig',
    ],
    remedy: 'Split the transaction, or the assets over several outputs',
  },
  {
    predicates: ['ScriptWitnessNotValidatingUTXOW', 'ScriptFailure', 'ValidationTagMismatch'],
    remedy: 'A script refuses: **Check** shows its trace. Correct the datum, the redeemer or the transaction',
  },
  {
    predicates: ['InvalidTransactionsNotSupported'],
    remedy: 'Mark it valid: layer 2 includes no transaction whose scripts fail, and takes no collateral',
  },
  {
    predicates: ['ExUnitsTooBigUTxO'],
    remedy: 'Declare budgets within the limits of a transaction: **Check** shows what scripts use',
  },
  {
    predicates: [
      'MissingScriptWitnessesUTXOW',
      'MissingRedeemers',
      'MissingRequiredDatums',
      'UnspendableUTxONoDatumHash',
    ],
    remedy: 'Add the script, redeemer or datum that the details name',
  },
  {
    predicates: ['ExtraneousScriptWitnessesUTXOW', 'ExtraRedeemers', 'NotAllowedSupplementalDatums'],
    remedy: 'Remove what nothing in the transaction needs',
  },
  {
    predicates: ['PPViewHashesDontMatch', 'ScriptIntegrityHashMismatch', 'CollectErrors'],
    remedy: 'Build with the protocol parameters of layer 2, from `/network`: the cost models differ',
  },
  {
    predicates: [
      'NoCollateralInputs',
      'InsufficientCollateral',
      'CollateralContainsNonADA',
      'ScriptsNotPaidUTxO',
      'IncorrectTotalCollateralField',
      'TooManyCollateralInputs',
    ],
    remedy:
      'Choose collateral as the details say: few outputs of keys, ada after the return, enough for the fee',
  },
  {
    predicates: [
      'MissingTxBodyMetadataHash',
      'MissingTxMetadata',
      'ConflictingMetadataHash',
      'InvalidMetadata',
    ],
    remedy: 'Send the metadata whose hash is in the body, each text and byte string within 64 bytes',
  },
  {
    predicates: ['WrongNetwork', 'WrongNetworkInTxBody', 'WrongNetworkWithdrawal'],
    remedy: 'Use addresses of the network that `/network` names',
  },
  {
    predicates: ['MalformedScriptWitnesses', 'MalformedReferenceScripts'],
    remedy: 'Serialise the script as its compiler writes it, for a language that the ledger version has',
  },
  {
    predicates: ['DecodingFailure', 'OutputBootAddrAttrsTooBig', 'BabbageNonDisjointRefInputs'],
    remedy: 'Serialise the transaction as the Conway CDDL says; a library of the ledger does',
  },
  {
    predicates: [
      'IndefiniteKeyWitnessesNotSupported',
      'IndefiniteReferencesNotSupported',
      'IndefiniteTransactionNotSupported',
      'LongHeadsNotSupported',
    ],
    remedy: 'Serialise with definite lengths and the shortest heads: fraud proofs cannot read the rest',
  },
  {
    predicates: [
      'CertificatesNotSupported',
      'DonationsNotSupported',
      'ProposalsNotSupported',
      'TreasuryValueNotSupported',
      'VotesNotSupported',
      'WithdrawalsNotSupported',
      'ConwayTreasuryValueMismatch',
    ],
    remedy: 'Leave it out: layer 2 has no staking and no governance',
  },
  {
    predicates: ['WithdrawalMalformed'],
    remedy:
      'Pay ada and bridged tokens to the bridge, enough for layer 1, with the address there as inline datum',
  },
  {
    predicates: ['BridgedPolicyMinted'],
    remedy: 'Deposit these assets on layer 1: layer 2 does not mint policies that the bridge takes',
  },
  {
    predicates: ['ValidationFailed', 'ScriptsNotJudged'],
    remedy: 'Replay it: the node failed, and the log says why',
  },
]

/** The remedy for a failed predicate, as plain text; undefined for one that this page does not know. */
export function remedyOf(predicate: string): string | undefined {
  return remedies.find(({ predicates }) => predicates.includes(predicate))?.remedy.replace(/[*`]/g, '')
}

/** The table of docs/errors.md. */
export function remediesTable(): string {
  const rows = remedies.map(
    ({ predicates, remedy }) => `| ${predicates.map((name) => `\`${name}\``).join('<br>')} | ${remedy} |`,
  )
  return ['| predicate | what to do |', '| --- | --- |', ...rows].join('\n')
}
