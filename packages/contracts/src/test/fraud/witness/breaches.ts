import { partsOf } from '@ratatosk/block'
import { concatBytes } from '@ratatosk/cbor'
import type { WitnessFraudProof } from '@ratatosk/protocol/fraud'
import { note, type RuleNote } from '../../rule-notes.js'
import { hexOf, hexOfPosition, outputRecord, patch, type TestBlock } from '../blocks.js'
import { ledgerFraudNotes } from '../ledger/notes.js'
import type { PolicyBreach } from '../without-rules.js'
import { instead, needs, places, prove, spentIn, witnessesAt, witnessLies } from './lies.js'
import {
  carol,
  coins,
  datumA,
  erin,
  everything,
  grace,
  hashOf,
  hashOfNative,
  honestStory,
  keyAddressOf,
  largest,
  locker,
  mintedByHeidi,
  minter,
  native,
  outputWith,
  referenced,
  storyWith,
  vault,
} from './story.js'

type Proof<Fraud> = Extract<WitnessFraudProof, { fraud: Fraud }>

const honest = honestStory
const { spent, minted, withdrawn, required } = needs
const of = (
  rule: string,
  what: string,
  proof: WitnessFraudProof,
  block = honest,
): PolicyBreach<WitnessFraudProof> => ({
  rule,
  what,
  block,
  proof,
})
/** A proof about the honest block, or one as honest as to this rule. */
const about = (
  rule: string,
  what: string,
  proves: (block: TestBlock) => WitnessFraudProof,
  block = honest,
): PolicyBreach<WitnessFraudProof> => of(rule, what, proves(block), block)

const badSignature = witnessLies[0]!
const changes = {
  everything: { signed: (key: unknown, id: Uint8Array) => (key === carol ? new Uint8Array(32) : id) },
}
const oldVersion = storyWith(changes, { header: { blockVersion: 1n } })
const deposit = storyWith(changes, {
  entries: (entries) => patch(entries, hexOfPosition(0), 0, Uint8Array.of(0)),
})
const withoutErin = { everything: { signers: everything.signers.filter((key) => key !== erin) } }
const longRecord = storyWith(withoutErin, {
  entries(entries) {
    const key = hexOf(coins.erins)
    entries.set(key, concatBytes(entries.get(key)!, Uint8Array.of(0)))
  },
})
const gracesOutput = outputWith({ address: keyAddressOf(grace.hash) })
const erins = spentIn(honest, 0, places.erins)
const missing = prove.missingSignature(0, spent(places.erins))(honest) as Proof<'missingSignature'>
const elsewhere = badSignature.prove(badSignature.block) as Proof<'invalidSignature'>

const otherBody = partsOf(storyWith({ everything: { required: [grace.hash] } }).transactions[0]!).body
const keyAccount = Uint8Array.of(0xe0, ...grace.hash)
const withKeyAccount = storyWith({ everything: { withdrawals: [keyAccount] } })
const withSecondVersion = storyWith({
  everything: { plutus: [locker, minter, referenced], referenceInputs: [coins.nativeReference] },
})

export const witnessBreaches: readonly PolicyBreach<WitnessFraudProof>[] = [
  {
    ...about(
      'token-names-what-is-proven',
      'the verdict names another block',
      badSignature.prove,
      badSignature.block,
    ),
    name: new Uint8Array(28),
  },
  about('header-is-provable', 'the header is of an older version', badSignature.prove, oldVersion),
  of(
    'transaction-is-in-block',
    'the transaction is at another position',
    { ...elsewhere, transaction: { ...elsewhere.transaction, position: 5 } },
    badSignature.block,
  ),
  about('record-is-of-transaction', 'the record is of a deposit', badSignature.prove, deposit),
  of('body-is-recorded', 'the body is of another transaction', {
    ...missing,
    need: required(grace.hash)(honest, 0),
    transaction: { ...missing.transaction, body: otherBody },
  }),
  of('witness-set-is-recorded', 'the witness set is of another transaction', {
    ...badSignature.prove(honest),
    witnesses: witnessesAt(badSignature.block, 0),
  }),
  of('output-record-is-in-block', 'the record of the output is invented', {
    ...missing,
    need: {
      ...erins,
      noted: { ...erins.noted, record: outputRecord(0n, 1n, gracesOutput) },
      output: gracesOutput,
    },
  }),
  about(
    'output-record-has-its-length',
    'the record is longer',
    prove.missingSignature(0, spent(places.erins)),
    longRecord,
  ),
  of('output-is-recorded', 'the output is another', {
    ...missing,
    need: { ...erins, output: gracesOutput },
  }),
  about('script-locks-input', 'a key locks the output', prove.scriptMissing(0, spent(places.erins))),
  about('policy-is-minted', 'nothing is minted', prove.scriptMissing(0, minted(new Uint8Array(28)))),
  about(
    'account-is-withdrawn',
    'nothing is withdrawn',
    prove.scriptMissing(0, withdrawn({ ...locker, language: 'PlutusV1' })),
  ),
  about(
    'account-is-of-script',
    'the account is of a key',
    prove.scriptMissing(0, () => ({ kind: 'withdrawn', account: keyAccount })),
    withKeyAccount,
  ),
  ...everything.signers.map((_, index) =>
    about('signature-is-invalid', 'the signature is valid', prove.invalidSignature(0, index)),
  ),
  about(
    'signature-is-invalid',
    'the signature of a bootstrap witness is valid',
    prove.invalidSignature(0, 0, true),
  ),
  about('key-unlocks-input', 'a script locks the output', prove.missingSignature(0, spent(places.vault))),
  about(
    'key-unlocks-input',
    'the address is of the Byron era',
    prove.missingSignature(2, spent(0)),
    storyWith({ last: { inputs: [coins.byron] } }),
  ),
  about('signer-is-required', 'the signer is not required', prove.missingSignature(0, required(grace.hash))),
  about('key-has-not-signed', 'the key has signed', prove.missingSignature(0, spent(places.erins))),
  about(
    'key-has-not-signed',
    'the required signer has signed',
    prove.missingSignature(0, required(carol.hash)),
  ),
  about(
    'script-is-needed',
    'the native script is another',
    prove.nativeScriptFails(0, spent(places.vault), native.any()),
  ),
  about(
    'script-is-needed',
    'the Plutus script is another',
    prove.redeemerMissing(0, spent(places.vault), locker),
  ),
  about(
    'native-script-fails',
    'the script of the input is satisfied',
    prove.nativeScriptFails(0, spent(places.vault), vault),
  ),
  about(
    'native-script-fails',
    'the policy is satisfied',
    prove.nativeScriptFails(0, minted(hashOfNative(mintedByHeidi)), mintedByHeidi),
  ),
  about('native-script-is-unreadable', 'layer 1 can read the script', (block) =>
    prove.unreadableScript(0, spent(places.vault), vault)(block),
  ),
  about(
    'native-script-is-unreadable',
    'the script is the largest that is allowed',
    prove.unreadableScript(0, spent(places.vault), largest),
    storyWith({ everything: { inputs: instead(coins.largest), nativeScripts: [largest] } }),
  ),
  of('outputs-are-recorded', 'the outputs are left out', {
    ...(prove.scriptMissing(0, minted(hashOf(referenced)))(honest) as Proof<'scriptMissing'>),
    outputs: [],
  }),
  about(
    'script-is-not-referenced',
    'an output has the Plutus script',
    prove.scriptMissing(0, minted(hashOf(referenced))),
  ),
  about(
    'script-is-not-referenced',
    'an output has the native script',
    prove.scriptMissing(0, minted(hashOfNative(mintedByHeidi))),
  ),
  about('script-is-not-witnessed', 'the native script is there', prove.scriptMissing(0, spent(places.vault))),
  about(
    'script-is-not-witnessed',
    'the script in Plutus V1 is there',
    prove.scriptMissing(0, minted(hashOf(minter))),
  ),
  about(
    'script-is-not-witnessed',
    'the script in Plutus V2 is there',
    prove.scriptMissing(0, minted(hashOf(referenced))),
    withSecondVersion,
  ),
  about(
    'script-is-not-witnessed',
    'the script in Plutus V3 is there',
    prove.scriptMissing(0, withdrawn(locker)),
  ),
  about(
    'script-is-plutus',
    'the script is native, and needs no redeemer',
    prove.redeemerMissing(0, spent(places.vault), { language: 'native' as never, bytes: vault }),
  ),
  ...(
    [
      ['the input', spent(places.locked), locker],
      ['the input by reference', spent(places.lockedByReference), referenced],
      ['the policy', minted(hashOf(minter)), minter],
      ['the policy by reference', minted(hashOf(referenced)), referenced],
      ['the account', withdrawn(locker), locker],
    ] as const
  ).map(([what, need, script]) =>
    about('redeemer-is-missing', `${what} has a redeemer`, prove.redeemerMissing(0, need, script)),
  ),
  about(
    'input-has-redeemer',
    'a key unlocks the output, and the datum is not needed',
    prove.datumMissing(2, 0),
    storyWith({ last: { inputs: [coins.davesWithDatum] } }),
  ),
  about('datum-is-missing', 'the datum is there', prove.datumMissing(0, places.locked)),
  about(
    'datum-is-missing',
    'the datum of an output in the array form is there',
    prove.datumMissing(0, places.lockedByReference),
  ),
  about('script-data-hash-is-wrong', 'the script data hash is right', prove.wrongScriptDataHash(0)),
  about(
    'script-data-hash-is-wrong',
    'there is no script data, and no hash of it',
    prove.wrongScriptDataHash(2),
  ),
  ...[[], ['PlutusV1'], ['PlutusV2'], ['PlutusV3'], ['PlutusV1', 'PlutusV2']].map((languages) =>
    about(
      'script-data-hash-is-wrong',
      `the script data hash is right for ${languages.join(' and ') || 'datums alone'}`,
      prove.wrongScriptDataHash(2),
      storyWith({ last: { datums: [datumA], languages: languages as never } }),
    ),
  ),
]

const proven = 'an honest operator: its bond would be lost by'

const own: readonly RuleNote[] = [
  note(
    'output-is-recorded',
    'the output’s Blake2b-256 is the one that the block records under the input’s reference',
    `${proven} an invented owner of what is spent`,
  ),
  note(
    'script-locks-input',
    'the output’s address has a script as its payment part: CIP-19 types 1, 3, 5 and 7',
    'proofs that the hash of a key is that of no script',
  ),
  note(
    'policy-is-minted',
    'the body’s mint has the policy, whose item has 30 bytes',
    'proofs of scripts that the transaction does not need',
  ),
  note(
    'account-is-withdrawn',
    'the body’s withdrawals have the account, whose item has 31 bytes',
    'the same',
  ),
  note(
    'account-is-of-script',
    'the account’s credential is a script',
    'proofs that the hash of a key is that of no script',
  ),
  note(
    'signature-is-invalid',
    'the Ed25519 signature at the index is not the public key’s signature of the transaction’s id',
    'proofs by signatures that are valid',
  ),
  note(
    'key-unlocks-input',
    'the output’s address has a key as its payment part: CIP-19 types 0, 2, 4 and 6',
    'proofs about a script or a Byron address, which other witnesses unlock',
  ),
  note(
    'signer-is-required',
    'the body’s required signers have the hash, whose item has 30 bytes',
    'proofs by keys that have nothing to sign',
  ),
  note(
    'key-has-not-signed',
    'no key witness has a public key with the hash',
    'proofs by keys that have signed',
  ),
  note(
    'script-is-needed',
    'the Blake2b-224 of the language’s byte and the script is the hash that the transaction needs',
    `${proven} a script that the transaction does not need`,
  ),
  note(
    'native-script-fails',
    'the native script is not satisfied by the key witnesses and the validity interval',
    'proofs by scripts that are satisfied',
  ),
  note(
    'native-script-is-unreadable',
    'before its end, the native script has one item more than layer 2 allows, or a head whose argument ' +
      'fits into a shorter one',
    'proofs by scripts within the bound and in shortest form',
  ),
  note(
    'outputs-are-recorded',
    'the Blake2b-256 of the outputs’ hashes is that in the record, for inputs and reference inputs',
    `${proven} leaving out the output that has the script`,
  ),
  note(
    'script-is-not-referenced',
    'no output has a reference script with the hash; what is no script is another',
    'proofs that a script is missing which an output has',
  ),
  note(
    'script-is-not-witnessed',
    'no native or Plutus script of the witness set has the hash',
    'proofs that a script is missing which the witness set has',
  ),
  note(
    'script-is-plutus',
    'the language is not 0',
    'proofs that a native script, which has none, lacks a redeemer',
  ),
  note(
    'redeemer-is-missing',
    'no redeemer has the purpose and the index of the needed input, policy or account',
    'proofs by redeemers that are there',
  ),
  note(
    'input-has-redeemer',
    'a redeemer points to the input, so a Plutus script locks its output',
    'proofs that an unneeded datum is missing: keys and native scripts ignore it',
  ),
  note(
    'datum-is-missing',
    'no datum of the witness set has the hash in the output; an output without such a hash fails',
    'proofs by datums that are there',
  ),
  note(
    'script-data-hash-is-wrong',
    'the body’s script data hash is not that of redeemers, datums and the cost models of any set of ' +
      'languages, or there are no redeemers and datums, and the body has one',
    'proofs by script data hashes that are right',
  ),
]

/** The texts of `RULES.md` about the rules of the witness policy; the ledger policy has those of opening. */
export const witnessFraudNotes: readonly RuleNote[] = [
  ...ledgerFraudNotes.filter(({ rule }) => witnessBreaches.some((breach) => breach.rule === rule)),
  ...own,
]
