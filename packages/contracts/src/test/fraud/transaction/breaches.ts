import { concatBytes } from '@ratatosk/cbor'
import { openTransaction, type TransactionFraudProof } from '@ratatosk/protocol/fraud'
import { note, type RuleNote } from '../../rule-notes.js'
import { blockOf, hexOfPosition, patch, payment, type TestBlock } from '../blocks.js'
import { ledgerFraudNotes } from '../ledger/notes.js'
import type { PolicyBreach } from '../without-rules.js'
import { transactionLies } from './lies.js'
import { prove, resolvedOf } from './statements.js'
import {
  blockWith,
  coin2,
  gold,
  goldTokens,
  keyAddress,
  map,
  outputWith,
  type Plan,
  paid,
  policy,
  specials,
  string,
  transfer,
  uint,
  unspentBefore,
} from './transactions.js'

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

const honest = blockWith()
const of = (
  rule: string,
  what: string,
  proof: TransactionFraudProof | ((block: TestBlock) => TransactionFraudProof),
  block = honest,
): PolicyBreach<TransactionFraudProof> => ({
  rule,
  what,
  block,
  proof: typeof proof === 'function' ? proof(block) : proof,
})

const lieOf = (what: string) => transactionLies.find((lie) => lie.what === what)!
/** The honest twin of a lie, with the lie's proof. */
const twin = (rule: string, what: string, lie = what): PolicyBreach<TransactionFraudProof> => {
  const { twin, prove } = lieOf(lie)
  return of(rule, what, prove(twin), twin)
}

const { block: lying, prove: proveLie } = lieOf('lovelace comes from nowhere')
const cbor = transfer({ outputs: [payment(60, paid + 1n)] }).cbor
const oldVersion = blockOf([cbor], unspentBefore(), { header: { blockVersion: 1n } })
const deposit = blockOf([cbor], unspentBefore(), {
  entries: (entries) => patch(entries, hexOfPosition(0), 0, Uint8Array.of(0)),
})
const lieProof = proveLie(lying)
const { value, fee, output, plain, field } = prove

const rewritten = (proof: TransactionFraudProof, changed: object): TransactionFraudProof =>
  ({ ...proof, ...changed }) as TransactionFraudProof
const honestWith = (plan: Plan) => blockWith(plan)

const reading = honestWith({ referenceInputs: [coin2] })
const allShown = { outputs: resolvedOf(reading, 3).outputs, hashes: new Uint8Array() }
const data = new Uint8Array(9000)

/** In chunks: the second byte is the head of the first, and not of the address. */
const chunked = honestWith({
  outputs: [
    map(
      [uint(0), concatBytes(Uint8Array.of(0x5f), string(keyAddress(60)), Uint8Array.of(0xff))],
      [uint(1), uint(paid)],
    ),
  ],
})
/** Burns the token of a genesis whose name has a head that is not the shortest, and pays the rest. */
const loose = honestWith({
  inputs: [specials.looselyGold],
  outputs: [outputWith({ lovelace: 4_800_000n, tokens: [gold] })],
})

/** Proofs about honest blocks, and of frauds under the wrong name, version or kind. */
export const transactionBreaches: readonly PolicyBreach<TransactionFraudProof>[] = [
  {
    ...of('token-names-what-is-proven', 'the verdict names another block', lieProof, lying),
    name: new Uint8Array(28),
  },
  of('header-is-provable', 'the header is of an older version', proveLie, oldVersion),
  of('transaction-is-in-block', 'the transaction is in another block', lieProof),
  of('record-is-of-transaction', 'the record is of a deposit', proveLie, deposit),
  of(
    'body-is-recorded',
    'the body is of another transaction',
    rewritten(value()(honest), {
      transaction: { ...openTransaction(honest, 0), body: openTransaction(lying, 0).body },
    }),
  ),
  of(
    'witness-set-is-recorded',
    'the witness set is larger',
    rewritten(fee()(honest), { witnessSet: concatBytes(Uint8Array.of(0xa0), data) }),
  ),
  of(
    'resolved-outputs-are-recorded',
    'the outputs that inputs stand for are invented',
    rewritten(value()(honest), {
      resolved: { outputs: [payment(1, 1n), payment(2, 2n)], hashes: new Uint8Array() },
    }),
  ),
  of(
    'resolved-outputs-are-those-of-inputs',
    'an input is left out',
    rewritten(value()(honest), { resolved: resolvedOf(honest, 1) }),
  ),
  of(
    'resolved-outputs-are-those-of-inputs',
    'no input is shown',
    rewritten(value()(honest), {
      resolved: { outputs: [], hashes: new Uint8Array() },
    }),
  ),
  of(
    'resolved-outputs-are-those-of-inputs',
    'a reference input counts as an input',
    rewritten(value()(reading), { resolved: allShown }),
    reading,
  ),
  ...transactionLies
    .filter(({ block, prove }) => prove(block).fraud === 'valueNotPreserved')
    .map(({ what }) => twin('value-is-not-preserved', `not so that ${what}`, what)),
  of('value-is-not-preserved', 'no such asset moves', value({ policy: policy(77), name: gold[1] })),
  of(
    'value-is-not-preserved',
    'the policy has another length',
    value({ policy: policy(1).subarray(1), name: gold[1] }),
    honestWith({
      inputs: [specials.gold],
      outputs: [outputWith({ lovelace: 4_800_000n, tokens: goldTokens })],
    }),
  ),
  of(
    'value-is-not-preserved',
    'the name of an asset that is spent is not in its shortest form',
    value({ policy: gold[0], name: gold[1] }),
    loose,
  ),
  of('auxiliary-data-is-of-transaction', 'there is no auxiliary data', fee(data)),
  of(
    'auxiliary-data-is-of-transaction',
    'the auxiliary data is larger',
    fee(data),
    honestWith({ auxiliaryData: string(new Uint8Array(5)) }),
  ),
  ...transactionLies
    .filter(({ block, prove }) => prove(block).fraud === 'feeTooSmall')
    .map(({ what }) => twin('fee-is-too-small', `not so that ${what}`, what)),
  of(
    'fee-is-too-small',
    'the reference script is large, and paid for',
    fee(undefined, 3),
    honestWith({
      inputs: [specials.gold, specials.large],
      referenceInputs: [specials.plutus],
      fee: 44n * 400n + 155_381n + 25_600n * 15n + 25_600n * 18n + ((60_000n + 2000n - 51_200n) * 108n) / 5n,
    }),
  ),
  twin('output-is-too-small', 'an output is just large enough', 'an output is too small'),
  twin(
    'output-is-too-small',
    'the second output is large enough',
    'the second output, an array, is too small',
  ),
  twin('output-is-too-small', 'the collateral return is large enough', 'the collateral return is too small'),
  of('address-is-readable', 'the address is in chunks', output('outputOnOtherNetwork', 0), chunked),
  ...transactionLies
    .filter(({ block, prove }) => prove(block).fraud === 'outputOnOtherNetwork')
    .map(({ what }) => twin('address-is-on-other-network', `not so that ${what}`, what)),
  ...transactionLies
    .filter(({ block, prove }) => prove(block).fraud === 'outsideInterval')
    .map(({ what }) => twin('interval-misses-block', `not so that ${what}`, what)),
  of('interval-misses-block', 'there is no interval', plain('outsideInterval')),
  of('field-is-forbidden', 'layer 2 allows the field', field(2)),
  of('field-is-in-transaction', 'there is no such field', field(4)),
  twin('transaction-is-of-other-network', 'the body names this network', 'the body names another network'),
  of('transaction-is-of-other-network', 'the body names no network', plain('wrongNetwork')),
  ...transactionLies
    .filter(({ block, prove }) => prove(block).fraud === 'forbiddenWithdrawal')
    .map(({ what }) => twin('withdrawal-is-forbidden', `not so that ${what}`, what)),
  of('withdrawal-is-forbidden', 'there are no withdrawals', plain('forbiddenWithdrawal')),
  twin('transaction-has-no-inputs', 'there are inputs', 'there are no inputs'),
  twin(
    'transaction-has-no-inputs',
    'there are inputs, in a list of indefinite length',
    'there are no inputs, in a list of indefinite length',
  ),
  twin('input-is-reference-input', 'the two are different outputs', 'an input is a reference input'),
  ...transactionLies
    .filter(({ block, prove }) => prove(block).fraud === 'unreadablePart')
    .map(({ what }) => twin('part-is-unreadable', `not so that ${what}`, what)),
  of('part-is-unreadable', 'layer 1 can read what is spent', prove.resolved),
  ...Object.entries({
    unreadableReference: 'reference-is-unreadable',
    malformedPart: 'part-is-malformed',
    strangeField: 'field-is-strange',
    strangeItem: 'item-is-strange',
    strangeOutput: 'output-is-strange',
    strangeWitness: 'witness-is-strange',
    tooMany: 'there-are-too-many',
  }).flatMap(([fraud, rule]) =>
    transactionLies
      .filter(({ block, twin, prove }) => prove(block).fraud === fraud && prove(twin))
      .map(({ what }) => twin(rule, `not so that ${what}`, what)),
  ),
  of('references-are-two', 'a reference is compared with itself', prove.repeated('inputs', 1, 1)),
  of('references-are-equal', 'the references are different', prove.repeated('inputs', 0, 1)),
]
