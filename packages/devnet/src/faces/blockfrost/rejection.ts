import type { Json, PredicateFailure, Verdict } from '@ratatosk/ledger'

/** Under which rule of the Haskell ledger a predicate is reported; the rest are UTXO's. */
const rules: Readonly<Record<string, 'utxow' | 'utxos' | 'certs' | 'deleg' | 'ledger'>> = {
  InvalidWitnessesUTXOW: 'utxow',
  MissingVKeyWitnessesUTXOW: 'utxow',
  MissingScriptWitnessesUTXOW: 'utxow',
  ScriptWitnessNotValidatingUTXOW: 'utxow',
  ExtraneousScriptWitnessesUTXOW: 'utxow',
  MissingTxBodyMetadataHash: 'utxow',
  MissingTxMetadata: 'utxow',
  ConflictingMetadataHash: 'utxow',
  InvalidMetadata: 'utxow',
  MissingRedeemers: 'utxow',
  ExtraRedeemers: 'utxow',
  MissingRequiredDatums: 'utxow',
  NotAllowedSupplementalDatums: 'utxow',
  UnspendableUTxONoDatumHash: 'utxow',
  PPViewHashesDontMatch: 'utxow',
  ScriptIntegrityHashMismatch: 'utxow',
  MalformedScriptWitnesses: 'utxow',
  MalformedReferenceScripts: 'utxow',
  ValidationTagMismatch: 'utxos',
  CollectErrors: 'utxos',
  WithdrawalsNotInRewardsCERTS: 'certs',
  StakeKeyRegisteredDELEG: 'deleg',
  StakeKeyNotRegisteredDELEG: 'deleg',
  IncorrectDepositDELEG: 'deleg',
  ConwayWdrlNotDelegatedToDRep: 'ledger',
}

/**
 * Why a transaction was refused, in the text that cardano-submit-api gives and Blockfrost hands on: nested JSON with the
 * ledger's own predicate names, which is what clients search for.
 */
export function rejectionMessage(failures: Verdict): string {
  return submitFailure({
    contents: {
      contents: {
        contents: {
          era: 'ShelleyBasedEraConway',
          error: failures.map(predicateText),
          kind: 'ShelleyTxValidationError',
        },
        tag: 'TxValidationErrorInCardanoMode',
      },
      tag: 'TxCmdTxSubmitValidationError',
    },
    tag: 'TxSubmitFail',
  })
}

/** Why bytes are no transaction, likewise. */
export function malformedMessage(reason: string): string {
  return submitFailure({
    contents: { contents: [`DecoderErrorDeserialiseFailure "Conway" (${reason})`], tag: 'TxReadError' },
    tag: 'TxSubmitFail',
  })
}

function submitFailure(failure: Json): string {
  return JSON.stringify(failure)
}

function predicateText({ predicate, message, details }: PredicateFailure): string {
  const text = `${predicate} (${JSON.stringify({ message, ...details })})`
  const rule = rules[predicate]
  if (rule === 'utxow') return `ConwayUtxowFailure (${text})`
  if (rule === 'utxos') return `ConwayUtxowFailure (UtxoFailure (UtxosFailure (${text})))`
  if (rule === 'certs') return `ConwayCertsFailure (${text})`
  if (rule === 'deleg') return `ConwayCertsFailure (CertFailure (DelegFailure (${text})))`
  if (rule === 'ledger') return text
  return `ConwayUtxowFailure (UtxoFailure (${text}))`
}
