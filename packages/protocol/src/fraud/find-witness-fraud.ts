import type { TransactionRecord } from '@ratatosk/block'
import { BytesMap, compareBytes, concatBytes, equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import {
  blake2b256,
  type Credential,
  effects,
  encodeOutputReference,
  type OutputReference,
  type PlutusLanguage,
  type ProtocolParameters,
  satisfiesNativeScript,
  scriptIntegrityHash,
  signatoriesOf,
  type TransactionOutput,
  validatePart,
  verifySignature,
} from '@ratatosk/ledger'
import type { AccusedBlock } from './accused-block.js'
import { openOutput, openRecord, openTransaction } from './openings.js'
import { type Read, readAt, readOutput } from './read-at.js'
import { type Recorded, readKnownChunks, recordedAt } from './recorded.js'
import { type FoundFraud, firstFound, type Search, smallestFirst, step } from './smallest-proof.js'
import {
  encodeWitnessFraudProof,
  type ScriptNeed,
  type SpentOpening,
  type WitnessFraudProof,
} from './witness-proofs.js'

/**
 * Looks for a fraud in the witnesses of a block's transactions, and returns the smallest of the first proofs;
 * undefined if there is none.
 *
 * Not found is
 *
 * - what transactions do with outputs that are not known: those from before the block need
 *   `block.outputBefore`;
 * - a missing bootstrap witness of a Byron address, and signatures and scripts for collateral;
 * - a script data hash over the cost models of other languages than the transaction's;
 * - extraneous witnesses, and a Plutus script that fails;
 * - anything in a transaction whose witnesses the block commits to are others; and what redeemers lack in
 *   witnesses that the ledger does not decode;
 * - what a proof cannot read: key witnesses and keys of maps in longer heads than needed.
 *
 * The proof is not evaluated: do that before it is sent.
 *
 * @param parameters of the layer 2, as the policy has them
 */
export function findWitnessFraud(
  block: AccusedBlock,
  parameters: Pick<ProtocolParameters, 'costModels'>,
): FoundFraud<WitnessFraudProof> | undefined {
  return firstFound(witnessFrauds(block, parameters))
}

/** All frauds that {@link findWitnessFraud} could find. */
export function witnessFrauds(
  block: AccusedBlock,
  parameters: Pick<ProtocolParameters, 'costModels'>,
): Search<WitnessFraudProof> {
  return smallestFirst(fraudsIn(block, parameters), (proof) => encodeWitnessFraudProof(block.header, proof))
}

type Outputs = (reference: OutputReference) => TransactionOutput | undefined

function* fraudsIn(
  block: AccusedBlock,
  parameters: Pick<ProtocolParameters, 'costModels'>,
): Generator<WitnessFraudProof | typeof step, void> {
  yield* readKnownChunks(block)
  const produced = new BytesMap<TransactionOutput>()
  const outputs: Outputs = (reference) => {
    const key = encodeOutputReference(reference)
    const own = produced.get(key)
    if (own !== undefined) return own
    const before = block.outputBefore?.(key)
    return before && readOutput(before)
  }
  for (const position of block.transactions.keys()) {
    yield step
    const recorded = recordedAt(block, position)
    const read = recorded && readAt(block, recorded)
    if (read === undefined) continue
    const { transaction } = read
    for (const { reference, output } of effects(transaction).produced)
      produced.set(encodeOutputReference(reference), output)
    const { record, isWitnessed } = recorded as Recorded
    if (isWitnessed) yield* fraudsOf({ block, position, record, ...read, outputs, parameters })
  }
}

interface Suspect extends Read {
  readonly block: AccusedBlock
  readonly position: number
  readonly record: TransactionRecord
  readonly outputs: Outputs
  readonly parameters: Pick<ProtocolParameters, 'costModels'>
}

function* fraudsOf(suspect: Suspect): Generator<WitnessFraudProof, void> {
  yield* invalidSignatures(suspect)
  yield* missingSignatures(suspect)
  yield* scriptFrauds(suspect)
  if (suspect.hasWitnesses) yield* scriptDataFrauds(suspect)
}

function* invalidSignatures({ block, position, transaction }: Suspect): Generator<WitnessFraudProof, void> {
  const { id, witnesses } = transaction
  for (const [isBootstrap, signatures] of [
    [false, witnesses.keyWitnesses],
    [true, witnesses.bootstrapWitnesses],
  ] as const) {
    for (const [index, { publicKey, signature }] of signatures.entries()) {
      if (verifySignature(signature, id, publicKey)) continue
      yield {
        fraud: 'invalidSignature',
        transaction: openRecord(block, position),
        witnesses: witnesses.bytes,
        isBootstrap,
        index,
      }
    }
  }
}

function* missingSignatures(suspect: Suspect): Generator<WitnessFraudProof, void> {
  const { transaction, outputs } = suspect
  const signed = signatoriesOf(transaction)
  for (const [index, reference] of transaction.body.inputs.entries()) {
    const output = outputs(reference)
    const payment = output && paymentOf(output)
    if (payment?.kind !== 'key' || signed.has(payment.hash)) continue
    const need = spentAt(suspect, index)
    if (need) yield { fraud: 'missingSignature', ...opened(suspect), need }
  }
  for (const keyHash of transaction.body.requiredSigners) {
    if (!signed.has(keyHash))
      yield { fraud: 'missingSignature', ...opened(suspect), need: { kind: 'required', keyHash } }
  }
}

const opened = ({ block, position, transaction }: Suspect) => ({
  transaction: openTransaction(block, position),
  witnesses: transaction.witnesses.bytes,
})

const paymentOf = ({ address }: TransactionOutput): Credential | undefined =>
  address.kind === 'byron' || address.kind === 'reward' ? undefined : address.payment

/** The output that an input spends; undefined if the block does not note it. */
function spentAt({ block, transaction, outputs }: Suspect, index: number): SpentOpening | undefined {
  const reference = transaction.body.inputs[index] as OutputReference
  const output = outputs(reference)
  const noted = openOutput(block, encodeOutputReference(reference))
  if (output === undefined || noted.record === undefined) return undefined
  if (!equalBytes(noted.record.subarray(16), blake2b256(output.bytes))) return undefined
  return { kind: 'spent', index, noted, output: output.bytes }
}

/** A script that a transaction needs, and the redeemer that a Plutus script would have. */
interface Needed {
  readonly hash: Uint8Array
  readonly purpose: 'spend' | 'mint' | 'reward'
  readonly index: number
  /** Of an input. */
  readonly output?: TransactionOutput
  /** Undefined if it cannot be shown. */
  readonly open: () => ScriptNeed | undefined
}

function* neededScripts(suspect: Suspect): Generator<Needed, void> {
  const { inputs, mint, withdrawals } = suspect.transaction.body
  const keys = inputs.map(encodeOutputReference)
  for (const [index, reference] of inputs.entries()) {
    const output = suspect.outputs(reference)
    const payment = output && paymentOf(output)
    if (output === undefined || payment?.kind !== 'script') continue
    const before = keys.filter((key) => compareBytes(key, encodeOutputReference(reference)) < 0)
    const open = () => spentAt(suspect, index)
    yield { hash: payment.hash, purpose: 'spend', index: before.length, output, open }
  }
  for (const [index, hex] of [...mint.keys()].sort().entries()) {
    const policy = fromHex(hex)
    yield { hash: policy, purpose: 'mint', index, open: () => ({ kind: 'minted', policy }) }
  }
  const accounts = withdrawals.map(({ account }) => account)
  accounts.sort((a, b) => compareBytes(a.bytes, b.bytes))
  for (const [index, account] of accounts.entries()) {
    if (account.kind !== 'reward' || account.stake.kind !== 'script') continue
    const need = { kind: 'withdrawn', account: account.bytes } as const
    yield { hash: account.stake.hash, purpose: 'reward', index, open: () => need }
  }
}

function* scriptFrauds(suspect: Suspect): Generator<WitnessFraudProof, void> {
  const { transaction } = suspect
  const { body, witnesses } = transaction
  const resolved = [...body.inputs, ...body.referenceInputs].map(suspect.outputs)
  const referenced = resolved.flatMap((output) => output?.referenceScript ?? [])
  const scripts = new BytesMap(
    [...referenced, ...witnesses.scripts].map((each) => [each.hash, each] as const),
  )
  const pointers = new Set(witnesses.redeemers.map(({ purpose, index }) => `${purpose}:${index}`))
  const signed = signatoriesOf(transaction)
  for (const { hash, purpose, index, output, open } of neededScripts(suspect)) {
    const script = scripts.get(hash)
    const hasRedeemer = pointers.has(`${purpose}:${index}`)
    if (script === undefined) {
      const need = open()
      const outputs = recorded(suspect, resolved)
      if (need && outputs) yield { fraud: 'scriptMissing', ...opened(suspect), need, outputs }
    } else if (script.language === 'native') {
      const isReadable = validatePart('native script', [script.bytes]).length === 0
      if (!isReadable || !satisfiesNativeScript(script.script, signed, body.validityInterval)) {
        const need = open()
        const fraud = isReadable ? 'nativeScriptFails' : 'unreadableScript'
        if (need) yield { fraud, ...opened(suspect), need, script: script.bytes }
      }
    } else if (!hasRedeemer && suspect.hasWitnesses) {
      const need = open()
      const { language, bytes } = script
      if (need) yield { fraud: 'redeemerMissing', ...opened(suspect), need, language, script: bytes }
    }
    if (!hasRedeemer || output?.datum.kind !== 'hash') continue
    if (witnesses.datums.has(toHex(output.datum.hash))) continue
    const spent = open()
    if (spent?.kind === 'spent') yield { fraud: 'datumMissing', ...opened(suspect), spent }
  }
}

/** The outputs that a transaction's record commits to, if they are known. */
function recorded(
  { record }: Suspect,
  resolved: readonly (TransactionOutput | undefined)[],
): readonly Uint8Array[] | undefined {
  const outputs = resolved.flatMap((output) => (output === undefined ? [] : [output.bytes]))
  if (outputs.length < resolved.length) return undefined
  return equalBytes(record.resolved, blake2b256(concatBytes(...outputs.map(blake2b256))))
    ? outputs
    : undefined
}

const languages: readonly PlutusLanguage[] = ['PlutusV1', 'PlutusV2', 'PlutusV3']
const setsOfLanguages = Array.from(
  { length: 2 ** languages.length },
  (_, set) => new Set(languages.filter((_language, place) => (set >> place) % 2 === 1)),
)

function* scriptDataFrauds(suspect: Suspect): Generator<WitnessFraudProof, void> {
  const { transaction, parameters } = suspect
  const { redeemers, datums } = transaction.witnesses
  const stated = transaction.body.scriptDataHash
  const isEmpty = redeemers.length === 0 && datums.size === 0
  const isRight = isEmpty
    ? stated === undefined
    : stated !== undefined &&
      setsOfLanguages.some((set) => {
        const expected = scriptIntegrityHash(transaction, set, parameters)
        return expected !== undefined && equalBytes(expected, stated)
      })
  if (!isRight) yield { fraud: 'wrongScriptDataHash', ...opened(suspect) }
}
