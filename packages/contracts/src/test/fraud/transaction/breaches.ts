import { concatBytes } from '@ratatosk/cbor'
import { openTransaction, type TransactionFraudProof } from '@ratatosk/fraud'
import { blockOf, hexOfPosition, patch, payment, type TestBlock } from '../blocks.js'
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
