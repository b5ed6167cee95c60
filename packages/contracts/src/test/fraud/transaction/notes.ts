import { note, type RuleNote } from '../../rule-notes.js'
import { ledgerFraudNotes } from '../ledger/notes.js'

const proven = 'an honest operator: its bond would be lost by'
const valid = (what: string) => `proofs of ${what}`

/** Rules of every policy of fraud proofs. */
const shared = new Set([
  'token-names-what-is-proven',
  'header-is-provable',
  'transaction-is-in-block',
  'record-is-of-transaction',
  'body-is-recorded',
  'witness-set-is-recorded',
])

/** The texts of `RULES.md` about the rules of the transaction policy. */
export const transactionFraudNotes: readonly RuleNote[] = [
  ...ledgerFraudNotes.filter(({ rule }) => shared.has(rule)),
  note(
    'resolved-outputs-are-recorded',
    'the Blake2b-256 of the hashes of the shown outputs, and of the hashes behind them, is the one in the ' +
      'record; or no output is shown',
    `${proven} invented values and reference scripts`,
  ),
  note(
    'resolved-outputs-are-those-of-inputs',
    'as many outputs are shown as the body has inputs',
    'leaving out the value of an input, and counting outputs that are only referred to',
  ),
  note(
    'value-is-not-preserved',
    'of the named asset, the shown outputs and the mint have another amount than the outputs of the body ' +
      'and, of ada, the fee',
    valid('values that are preserved, and of assets that script and decoder read differently'),
  ),
  note(
    'auxiliary-data-is-of-transaction',
    'the body has a hash of auxiliary data, which is that of the data shown; or none is shown',
    `${proven} auxiliary data that is larger, and makes a fee too small`,
  ),
  note(
    'fee-is-too-small',
    'the fee is below the price of size, declared units (rounded up, of each pointer the last redeemer) ' +
      'and shown reference scripts (rounded down, by tiers)',
    valid('a fee that suffices'),
  ),
  note(
    'output-is-too-small',
    'the output’s lovelace is below `coinsPerUtxoByte` times its bytes and 160',
    valid('an output with enough lovelace'),
  ),
  note(
    'address-is-readable',
    'the address is one string of 24 to 65,535 bytes',
    'reading a head or a length as the network',
  ),
  note(
    'address-is-on-other-network',
    'the lower half of the address’s first byte is not the network id, or the byte is 0x80 or more: that ' +
      'of a Byron address',
    valid('an address of this network'),
  ),
  note(
    'interval-misses-block',
    'the interval begins after the last slot of the block, ends at or before its first, or is empty',
    valid('an interval that meets the block, and of a body without one'),
  ),
  note(
    'field-is-forbidden',
    'the key is 4, 19, 20, 21 or 22, or none of Conway’s keys below 24',
    valid('a field that layer 2 allows'),
  ),
  note('field-is-in-transaction', 'the body has the field', valid('a field that is not there')),
  note(
    'transaction-is-of-other-network',
    'the body’s network id is not that of the layer 2',
    valid('a body that names this network or none'),
  ),
  note(
    'withdrawal-is-forbidden',
    'an entry of the withdrawals is not 29 bytes of a script of this network with zero lovelace',
    valid('withdrawals of zero by scripts, and of a body without withdrawals'),
  ),
  note(
    'transaction-has-no-inputs',
    'the set of inputs is empty',
    valid('a transaction that spends something'),
  ),
  note(
    'input-is-reference-input',
    'the input and the reference input at the indexes are the same reference',
    valid('inputs and reference inputs that differ'),
  ),
  note(
    'part-is-unreadable',
    'the part is longer than layer 2 allows, or before its end has one item too many, or a head whose ' +
      'argument fits into a shorter one',
    valid('a body, a witness set or resolved outputs within the bounds and in shortest form'),
  ),
  note(
    'reference-is-unreadable',
    'the item at the index of the set is not an array of two, 32 bytes and a number up to 65,535, all ' +
      'definite and in shortest heads',
    valid('a reference that is a definite array'),
  ),
  note(
    'part-is-malformed',
    'the part is not one item of CBOR to its end',
    valid('a body or witness set that is one item'),
  ),
  note(
    'field-is-strange',
    'the part is not a map, or has the key twice, or one that is unknown, or, of a body, lacks 0, 1 or 2; ' +
      'or what is under the key has another type: a number, list, set, map, or a map of policies, names ' +
      'and quantities',
    valid('fields as the ledger decodes them'),
  ),
  note(
    'output-is-strange',
    'the item is not an array or a map, without keys from 4 on, of an address and a value: lovelace, or ' +
      'lovelace and policies of 28 bytes with names of up to 32 and positive quantities',
    valid('outputs as the ledger decodes them'),
  ),
  note(
    'item-is-strange',
    'the path leads, by the types of the parts on it, to an item that the ledger does not decode there: ' +
      'it has another major type, number, length, size, tag, kind or address, or a string holds no item ' +
      'alone; or, in sets and in maps but those of Plutus data, the two parts named are equal bytes',
    valid('items as the ledger decodes them'),
  ),
  note(
    'witness-is-strange',
    'the item is not a definite array of two, or four, that begins with 32 and 64 bytes',
    valid('witnesses as the ledger decodes them'),
  ),
  note(
    'there-are-too-many',
    'inputs and twice the reference inputs, outputs, key witnesses, scripts, datums or redeemers are more ' +
      'than layer 2 allows',
    valid('a body or witness set within the bounds'),
  ),
  note('references-are-two', 'the indexes differ', 'comparing a reference with itself'),
  note('references-are-equal', 'the references at the indexes are the same', valid('sets of references')),
]
