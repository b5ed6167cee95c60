import { partsOf } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeTransaction,
  decodeTransactionOutput,
  effects,
  encodeOutputReference,
  type OutputReference,
  outputReferenceKey,
  type TransactionOutput,
  validatePhaseOne,
  validateProfile,
  validateProfileOfInputs,
} from '@ratatosk/ledger'
import {
  openOutput,
  openRecord,
  openTransaction,
  type ScriptNeed,
  type SignatureNeed,
  type SpentOpening,
  type WitnessFraudProof,
} from '@ratatosk/protocol/fraud'
import { parameters } from '../../evaluate.js'
import type { TestBlock } from '../blocks.js'
import {
  accountOf,
  alice,
  bob,
  type Changes,
  carol,
  coins,
  datumA,
  datumB,
  erin,
  everything,
  frank,
  hashOf,
  hashOfNative,
  locker,
  mintedByHeidi,
  minter,
  type Plutus,
  referenced,
  storyWith,
  tooLarge,
  vault,
} from './story.js'

/** The rules of the ledger and the layer 2 profile about witnesses and encodings. */
const witnessPredicates = new Set([
  'InvalidWitnessesUTXOW',
  'MissingVKeyWitnessesUTXOW',
  'ScriptWitnessNotValidatingUTXOW',
  'MissingScriptWitnessesUTXOW',
  'ExtraneousScriptWitnessesUTXOW',
  'UnspendableUTxONoDatumHash',
  'MissingRequiredDatums',
  'NotAllowedSupplementalDatums',
  'MissingRedeemers',
  'ExtraRedeemers',
  'PPViewHashesDontMatch',
])
const isOfEncoding = (predicate: string) => predicate.endsWith('NotSupported') || predicate === 'TooManyItems'

/** The rules about witnesses that the transactions of a block break, and those about encodings. */
export function witnessFailures(block: TestBlock): string[] {
  const made = new Map<string, TransactionOutput>()
  return block.transactions.flatMap((cbor) => {
    const transaction = decodeTransaction(cbor)
    const { body } = transaction
    const utxos = new Map(made)
    for (const reference of [...body.inputs, ...body.referenceInputs]) {
      const output = block.outputBefore?.(encodeOutputReference(reference))
      if (output) utxos.set(outputReferenceKey(reference), decodeTransactionOutput(output))
    }
    for (const { reference, output } of effects(transaction).produced)
      made.set(outputReferenceKey(reference), output)
    const context = { parameters, networkId: 0, slot: 200n }
    return [
      ...validateProfile(transaction),
      ...validateProfileOfInputs(transaction, utxos),
      ...validatePhaseOne(transaction, utxos, context),
    ]
      .map(({ predicate }) => predicate)
      .filter((predicate) => witnessPredicates.has(predicate) || isOfEncoding(predicate))
  })
}

/** A block whose only fault is in witnesses, and its proof, which proves nothing of the honest block. */
export interface WitnessLie {
  readonly what: string
  /** The rule of the ledger that the block breaks; others follow from it. */
  readonly predicate: string
  readonly block: TestBlock
  readonly prove: (block: TestBlock) => WitnessFraudProof
}

export const witnessesAt = (block: TestBlock, position: number): Uint8Array =>
  partsOf(block.transactions[position]!).witnessSet

const opened = (block: TestBlock, position: number) => ({
  transaction: openTransaction(block, position),
  witnesses: witnessesAt(block, position),
})

/** An output before the block, or a deposit, or made by it. */
export function outputIn(block: TestBlock, reference: OutputReference): Uint8Array {
  const key = encodeOutputReference(reference)
  const before = block.outputBefore?.(key)
  if (before !== undefined) return before
  const deposit = block.deposits?.find(({ id }) => toHex(id) === toHex(reference.transactionId))
  if (deposit !== undefined) return deposit.output
  const maker = block.transactions.map(partsOf).find(({ id }) => toHex(id) === toHex(reference.transactionId))
  return maker!.outputs[reference.index]!
}

export function spentIn(block: TestBlock, position: number, index: number): SpentOpening {
  const reference = partsOf(block.transactions[position]!).inputs[index]!
  const noted = openOutput(block, encodeOutputReference(reference))
  return { kind: 'spent', index, noted, output: outputIn(block, reference) }
}

type Prove = (block: TestBlock) => WitnessFraudProof
type Need<N> = (block: TestBlock, position: number) => N

const spent =
  (index: number): Need<SpentOpening> =>
  (block, position) =>
    spentIn(block, position, index)
const minted =
  (policy: Uint8Array): Need<ScriptNeed> =>
  () => ({ kind: 'minted', policy })
const withdrawn =
  (script: Plutus): Need<ScriptNeed> =>
  () => ({ kind: 'withdrawn', account: accountOf(script) })
const required =
  (keyHash: Uint8Array): Need<SignatureNeed> =>
  () => ({ kind: 'required', keyHash })

const invalidSignature =
  (position: number, index: number, isBootstrap = false): Prove =>
  (block) => ({
    fraud: 'invalidSignature',
    transaction: openRecord(block, position),
    witnesses: witnessesAt(block, position),
    isBootstrap,
    index,
  })
const missingSignature =
  (position: number, need: Need<SignatureNeed>): Prove =>
  (block) => ({ fraud: 'missingSignature', ...opened(block, position), need: need(block, position) })
const nativeScriptFails =
  (position: number, need: Need<ScriptNeed>, script: Uint8Array): Prove =>
  (block) => ({ fraud: 'nativeScriptFails', ...opened(block, position), need: need(block, position), script })
const unreadableScript =
  (position: number, need: Need<ScriptNeed>, script: Uint8Array): Prove =>
  (block) => ({ fraud: 'unreadableScript', ...opened(block, position), need: need(block, position), script })
const scriptMissing =
  (position: number, need: Need<ScriptNeed>): Prove =>
  (block) => {
    const { inputs, referenceInputs } = partsOf(block.transactions[position]!)
    const outputs = [...inputs, ...referenceInputs].map((reference) => outputIn(block, reference))
    return { fraud: 'scriptMissing', ...opened(block, position), need: need(block, position), outputs }
  }
const redeemerMissing =
  (position: number, need: Need<ScriptNeed>, { language, bytes }: Plutus): Prove =>
  (block) => ({
    fraud: 'redeemerMissing',
    ...opened(block, position),
    need: need(block, position),
    language,
    script: bytes,
  })
const datumMissing =
  (position: number, index: number): Prove =>
  (block) => ({ fraud: 'datumMissing', ...opened(block, position), spent: spentIn(block, position, index) })
const wrongScriptDataHash =
  (position: number): Prove =>
  (block) => ({ fraud: 'wrongScriptDataHash', ...opened(block, position) })

export const prove = {
  invalidSignature,
  missingSignature,
  nativeScriptFails,
  unreadableScript,
  scriptMissing,
  redeemerMissing,
  datumMissing,
  wrongScriptDataHash,
}
export const needs = { spent, minted, withdrawn, required }

/** Where inputs of the first transaction are. */
export const places = Object.fromEntries(
  Object.entries(coins).map(([name, coin]) => [
    name,
    (everything.inputs as readonly OutputReference[]).indexOf(coin),
  ]),
) as { readonly [name in keyof typeof coins]: number }

const without = <T>(items: readonly T[], ...left: readonly T[]): T[] =>
  items.filter((item) => !left.includes(item))
const { signers, redeemers } = everything
const withoutRedeemer = (place: number): Changes => ({
  everything: { redeemers: redeemers.filter((_, index) => index !== place) },
})

export const predicates = {
  invalidSignature: 'InvalidWitnessesUTXOW',
  missingSignature: 'MissingVKeyWitnessesUTXOW',
  nativeScriptFails: 'ScriptWitnessNotValidatingUTXOW',
  scriptMissing: 'MissingScriptWitnessesUTXOW',
  redeemerMissing: 'MissingRedeemers',
  datumMissing: 'MissingRequiredDatums',
  wrongScriptDataHash: 'PPViewHashesDontMatch',
  unreadableScript: 'TooManyItems',
} as const

function lie(what: string, changes: Changes, prove: Prove): WitnessLie {
  const block = storyWith(changes)
  return { what, predicate: predicates[prove(block).fraud], block, prove }
}

const first = (what: string, changes: Changes['everything'], prove: Prove) =>
  lie(what, changes ? { everything: changes } : {}, prove)

/** The inputs with another in the place of the vault. */
export const instead = (coin: OutputReference): readonly OutputReference[] =>
  everything.inputs.map((own) => (own === coins.vault ? coin : own))

const vaultFails = nativeScriptFails(0, spent(places.vault), vault)

export const witnessLies: readonly WitnessLie[] = [
  first(
    'a signature is of other bytes',
    { signed: (key, id) => (key === carol ? new Uint8Array(32) : id) },
    invalidSignature(0, signers.indexOf(carol)),
  ),
  first(
    'a bootstrap signature is of other bytes',
    { signed: (key, id) => (signers.includes(key) ? id : new Uint8Array(32)) },
    invalidSignature(0, 0, true),
  ),
  lie(
    'the only signature is of other bytes',
    { last: { signed: () => new Uint8Array(32) } },
    invalidSignature(2, 0),
  ),
  first(
    'the key of an input has not signed',
    { signers: without(signers, erin) },
    missingSignature(0, spent(places.erins)),
  ),
  first(
    'the key of an input in the array form has not signed',
    { signers: without(signers, frank) },
    missingSignature(0, spent(places.franks)),
  ),
  first(
    'a required signer has not signed',
    { signers: without(signers, carol) },
    missingSignature(0, required(carol.hash)),
  ),
  lie(
    'the key of an output of the block has not signed',
    { payment: { signers: [alice] } },
    missingSignature(1, spent(0)),
  ),
  lie('no one has signed', { last: { signers: [] } }, missingSignature(2, spent(0))),
  first('a native script lacks a signature of all', { signers: without(signers, alice) }, vaultFails),
  first('a native script lacks one of a number', { signers: without(signers, bob) }, vaultFails),
  first('a native script is used too early', { validFrom: 99 }, vaultFails),
  first('a native script is used without a start', { validFrom: undefined as never }, vaultFails),
  first('a native script is used too late', { validTo: 301 }, vaultFails),
  first('a native script is used without an end', { validTo: undefined as never }, vaultFails),
  first(
    'a native policy by reference is not satisfied',
    { signers: without(signers, signers.at(-1)!) },
    nativeScriptFails(0, minted(hashOfNative(mintedByHeidi)), mintedByHeidi),
  ),
  first(
    'a native script is too large',
    { inputs: instead(coins.tooLarge), nativeScripts: [tooLarge] },
    unreadableScript(0, spent(places.vault), tooLarge),
  ),
  first('the script of an input is nowhere', { nativeScripts: [] }, scriptMissing(0, spent(places.vault))),
  first(
    'the Plutus script of an input is nowhere',
    { plutus: [minter] },
    scriptMissing(0, spent(places.locked)),
  ),
  first('the script of an account is nowhere', { plutus: [minter] }, scriptMissing(0, withdrawn(locker))),
  first('a policy is nowhere', { plutus: [locker] }, scriptMissing(0, minted(hashOf(minter)))),
  first(
    'a native policy is in no output',
    { referenceInputs: [coins.reference] },
    scriptMissing(0, minted(hashOfNative(mintedByHeidi))),
  ),
  first(
    'a Plutus policy is in no output',
    { referenceInputs: [coins.nativeReference] },
    scriptMissing(0, minted(hashOf(referenced))),
  ),
  first(
    'the script is there in another language',
    { plutus: [minter, { ...locker, language: 'PlutusV2' }] },
    scriptMissing(0, spent(places.locked)),
  ),
  lie('an input has no redeemer', withoutRedeemer(0), redeemerMissing(0, spent(places.locked), locker)),
  lie(
    'an input by reference has no redeemer',
    withoutRedeemer(1),
    redeemerMissing(0, spent(places.lockedByReference), referenced),
  ),
  lie('a policy has no redeemer', withoutRedeemer(2), redeemerMissing(0, minted(hashOf(minter)), minter)),
  lie(
    'a policy by reference has no redeemer',
    withoutRedeemer(3),
    redeemerMissing(0, minted(hashOf(referenced)), referenced),
  ),
  lie('an account has no redeemer', withoutRedeemer(4), redeemerMissing(0, withdrawn(locker), locker)),
  first('nothing has a redeemer', { redeemers: [] }, redeemerMissing(0, spent(places.locked), locker)),
  first('a datum is missing', { datums: [datumB] }, datumMissing(0, places.locked)),
  first(
    'the datum of an output in the array form is missing',
    { datums: [datumA] },
    datumMissing(0, places.lockedByReference),
  ),
  first('there are no datums', { datums: [] }, datumMissing(0, places.locked)),
  first('the script data hash is another', { scriptDataHash: blake2b256(datumA) }, wrongScriptDataHash(0)),
  first('there is no script data hash', { scriptDataHash: null }, wrongScriptDataHash(0)),
  lie(
    'there is a script data hash of nothing',
    { last: { scriptDataHash: blake2b256(Uint8Array.of(0xa0, 0xa0)) } },
    wrongScriptDataHash(2),
  ),
]
