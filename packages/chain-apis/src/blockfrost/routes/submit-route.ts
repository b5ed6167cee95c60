import type { Failures, PredicateFailure } from '@ratatosk/ledger'
import type { FastifyInstance } from 'fastify'
import { envelopeHint, hexBytes, textOf } from '../../transaction-bytes.js'
import type { ChainView } from '../../view/chain-view.js'
import { BlockfrostError } from '../errors.js'

export function addSubmitRoute(fastify: FastifyInstance, chain: ChainView, status: 200 | 202): void {
  fastify.post<{ Body: unknown }>(
    '/tx/submit',
    { config: { operation: 'submit' } },
    async ({ body }, reply) => {
      if (!Buffer.isBuffer(body)) {
        const hint = envelopeHint(JSON.stringify(body) ?? '')
        throw new BlockfrostError(400, hint ?? 'Content-Type must be application/cbor')
      }
      const result = await chain.submit(readBody(body))
      if (result.kind === 'malformed') throw new BlockfrostError(400, malformedMessage(result.message))
      if (result.kind === 'rejected') throw new BlockfrostError(400, rejectionMessage(result.failures))
      if (result.kind === 'undecided') {
        reply.header('retry-after', String(Math.ceil(result.retryAfterMs / 1000)))
        throw new BlockfrostError(503, result.message)
      }
      return reply.code(status).send(JSON.stringify(result.hash))
    },
  )
}

/** Mesh sends hex to Yaci. */
function readBody(body: Buffer): Uint8Array {
  const text = textOf(body)
  if (text === undefined) return body
  const hint = envelopeHint(text)
  if (hint !== undefined) throw new BlockfrostError(400, hint)
  return hexBytes(text) ?? body
}

/** The message for bytes that do not decode, in the format of cardano-submit-api. */
function malformedMessage(reason: string): string {
  return JSON.stringify({
    contents: { contents: [`DecoderErrorDeserialiseFailure "Conway" (${reason})`], tag: 'TxReadError' },
    tag: 'TxSubmitFail',
  })
}

/**
 * The message for a rejected transaction, in the format of cardano-submit-api that Blockfrost passes on:
 * nested JSON with the ledger's predicate names, which clients search for.
 */
function rejectionMessage(failures: Failures): string {
  return JSON.stringify({
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

/** The rule of the Haskell ledger that reports a predicate; UTXO reports all others. */
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

function predicateText({ predicate, message, details }: PredicateFailure): string {
  const text = `${predicate} (${JSON.stringify({ message, ...details })})`
  switch (rules[predicate]) {
    case 'utxow':
      return `ConwayUtxowFailure (${text})`
    case 'utxos':
      return `ConwayUtxowFailure (UtxoFailure (UtxosFailure (${text})))`
    case 'certs':
      return `ConwayCertsFailure (${text})`
    case 'deleg':
      return `ConwayCertsFailure (CertFailure (DelegFailure (${text})))`
    case 'ledger':
      return text
    default:
      return `ConwayUtxowFailure (UtxoFailure (${text}))`
  }
}
