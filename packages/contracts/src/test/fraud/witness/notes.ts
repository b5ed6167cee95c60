import { note, type RuleNote } from '../../rule-notes.js'
import { ledgerFraudNotes } from '../ledger/notes.js'
import { witnessBreaches } from './breaches.js'

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
