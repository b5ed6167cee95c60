import { concatBytes } from '@ratatosk/cbor'
import { encodeTransactionFraudProof, type TransactionFraudProof } from '@ratatosk/protocol/fraud'
import { transactionFraudScript } from '../../../fraud-scripts.js'
import { operator } from '../../world.js'
import { blockOf, fillers, hexOf, measuredSizes, outputRecord, payment, type TestBlock } from '../blocks.js'
import type { ProvenLie } from '../minting.js'
import { prove } from './statements.js'
import {
  coin2,
  gold,
  goldTokens,
  list,
  longHead,
  map,
  outputWith,
  type Plan,
  paid,
  policy,
  rules,
  special,
  specials,
  string,
  transfer,
  uint,
  unspentBefore,
} from './transactions.js'

const many = Array.from({ length: 10 }, (_, i) => special(400 + i))

function amongMany(plans: readonly Plan[]): TestBlock {
  const outputs = unspentBefore()
  for (const reference of many) outputs.set(hexOf(reference), payment(3, 2_000_000n))
  const transactions = plans.map((plan) => transfer(plan).cbor)
  return blockOf(transactions, outputs, {
    entries(entries) {
      for (const key of fillers(measuredSizes.entries, [...entries.keys()]))
        entries.set(key, outputRecord(0n, 1n, payment(1, 2_000_000n)))
    },
    header: { operatorVkey: operator.hash },
  })
}

const { value, fee, output, plain, field, both, witnesses, reference } = prove
const { strangeField, strangeItem, strangeOutput, strangeWitness, repeated } = prove
const address = new Uint8Array(57).fill(1).with(0, 0)
const redeemers = list(
  ...[0, 1, 2].map((index) =>
    list(uint(0), uint(index), list(uint(1), uint(2)), list(uint(2 ** 20), uint(2 ** 28))),
  ),
)

const lies: readonly (readonly [
  what: string,
  plan: Plan,
  proof: (block: TestBlock, position: number) => TransactionFraudProof,
])[] = [
  [
    '`valueNotPreserved`',
    {
      inputs: [specials.gold],
      outputs: [outputWith({ lovelace: 2_000_000n, address }), outputWith({ lovelace: 4_000_000n, address })],
    },
    value(),
  ],
  [
    '`valueNotPreserved`, a token',
    {
      inputs: [specials.gold],
      outputs: [outputWith({ lovelace: 4_800_000n, tokens: [...goldTokens.slice(0, 2)] })],
    },
    value({ policy: gold[0], name: gold[1] }),
  ],
  [
    '`valueNotPreserved`, 10 inputs, 10 outputs',
    {
      inputs: many,
      outputs: Array.from({ length: 10 }, () => outputWith({ lovelace: 3_000_000n, address })),
    },
    value(),
  ],
  ['`feeTooSmall`', { fee: 1n }, fee()],
  [
    '`feeTooSmall`, 3 redeemers, a reference script of 2,000 bytes',
    { fee: 1n, witnessSet: map([uint(5), redeemers]), referenceInputs: [specials.plutus] },
    fee(undefined, 3),
  ],
  ['`outputTooSmall`', { outputs: [payment(1, 5n)] }, output('outputTooSmall', 0)],
  [
    '`outputOnOtherNetwork`',
    { outputs: [outputWith({ lovelace: paid, address: address.with(0, 1) })] },
    output('outputOnOtherNetwork', 0),
  ],
  ['`outsideInterval`', { fields: [[3, uint(1)]] }, plain('outsideInterval')],
  ['`forbiddenField`', { fields: [[22, uint(1)]] }, field(22)],
  ['`wrongNetwork`', { fields: [[15, uint(1)]] }, plain('wrongNetwork')],
  [
    '`forbiddenWithdrawal`',
    { fields: [[5, map([string(Uint8Array.of(0xf0, ...policy(1))), uint(5)])]] },
    plain('forbiddenWithdrawal'),
  ],
  ['`noInputs`', { inputs: [] }, plain('noInputs')],
  ['`inputIsReferenceInput`', { inputs: [coin2], referenceInputs: [coin2] }, both(0, 0)],
  [
    '`unreadablePart`, a long head in the witness set',
    { witnessSet: map([uint(4), list(concatBytes(longHead(2, 20n, 1), new Uint8Array(20)))]) },
    witnesses,
  ],
  [
    '`unreadableReference`',
    {
      fields: [
        [
          13,
          list(
            concatBytes(Uint8Array.of(0x9f), string(special(0).transactionId), uint(0), Uint8Array.of(0xff)),
          ),
        ],
      ],
    },
    reference('collateralInputs', 0),
  ],
  ['`strangeField`', { witnessSet: list() }, strangeField('witness set', 0)],
  ['`strangeOutput`', { outputs: [uint(1)] }, strangeOutput(0)],
  ['`strangeItem`', { fields: [[14, list(string(new Uint8Array(27)))]] }, strangeItem('body', [14, 0])],
  [
    '`strangeWitness`',
    { witnessSet: map([uint(0), list(list(string(address.subarray(0, 31)), string(new Uint8Array(64))))]) },
    strangeWitness(false, 0),
  ],
  ['`repeatedReference`', { inputs: [coin2, coin2] }, repeated('inputs', 0, 1)],
]

/** One proof of each kind and some large ones, in a block with a map of {@link measuredSizes}. */
export function proveTransactionLies(): ProvenLie[] {
  const block = amongMany(lies.map(([, plan]) => plan))
  const { header } = block
  const script = transactionFraudScript(rules)
  return lies.map(([what, , proof], position) => ({
    what,
    header,
    script,
    redeemer: encodeTransactionFraudProof(header, proof(block, position)),
  }))
}
