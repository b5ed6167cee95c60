import { concatBytes } from '@ratatosk/cbor'
import { encodeOutputReference } from '@ratatosk/ledger'
import { payment } from '../blocks.js'
import { lie, type TransactionLie } from './lie.js'
import {
  interval,
  leastFee,
  many,
  script,
  tooMany,
  withdrawing,
  withSigners,
  zeroWithdrawals,
} from './plans.js'
import { shapeLies } from './shape-lies.js'
import { body, both, field, output, plain, reference, witnesses } from './statements.js'
import {
  coin0,
  coin1,
  coin2,
  firstSlot,
  keyAddress,
  lastSlot,
  list,
  longHead,
  map,
  openList,
  openMap,
  outputWith,
  paid,
  policy,
  references,
  special,
  string,
  uint,
} from './transactions.js'
import { valueLies } from './value-lies.js'

export const transactionLies: readonly TransactionLie[] = [
  ...valueLies,
  ...shapeLies,
  lie(
    'an output is too small',
    { outputs: [payment(60, 857_689n), payment(61, paid - 857_689n)] },
    {},
    output('outputTooSmall', 0),
  ),
  lie(
    'the second output, an array, is too small',
    {
      outputs: [payment(60, paid - 849_069n), outputWith({ lovelace: 849_069n, form: 'array' })],
    },
    {
      outputs: [
        payment(60, paid - 1_900_000n),
        outputWith({ lovelace: 1_900_000n, form: 'indefinite array' }),
      ],
    },
    output('outputTooSmall', 1),
  ),
  lie(
    'the collateral return is too small',
    { fields: [[16, payment(1, 5n)]] },
    { fields: [[16, payment(1, 5_000_000n)]] },
    output('outputTooSmall', 'collateralReturn'),
  ),
  ...(['map', 'indefinite array'] as const).map((form) =>
    lie(
      `an output, a ${form}, is on another network`,
      { outputs: [outputWith({ lovelace: paid, address: keyAddress(1, 0x61), form })] },
      { outputs: [outputWith({ lovelace: paid, form })] },
      output('outputOnOtherNetwork', 0),
    ),
  ),
  lie(
    'the collateral return is on another network',
    { fields: [[16, outputWith({ lovelace: paid, address: keyAddress(1, 0x71) })]] },
    { fields: [[16, outputWith({ lovelace: paid, address: keyAddress(1, 0x70) })]] },
    output('outputOnOtherNetwork', 'collateralReturn'),
  ),
  lie(
    'the interval ends before the block',
    interval(undefined, firstSlot),
    interval(undefined, firstSlot + 1n),
    plain('outsideInterval'),
  ),
  lie(
    'the interval begins after the block',
    interval(lastSlot + 1n),
    interval(lastSlot),
    plain('outsideInterval'),
  ),
  lie(
    'the interval is empty',
    interval(firstSlot + 5n, firstSlot + 5n),
    interval(firstSlot + 5n, firstSlot + 6n),
    plain('outsideInterval'),
  ),
  lie(
    'there is a certificate',
    { fields: [[4, list(list(uint(7), list(uint(0), string(policy(1))), uint(2_000_000)))]] },
    {},
    field(4),
  ),
  ...[6, 10, 12, 19, 20, 23].map((key) =>
    lie(`there is a field ${key}`, { fields: [[key, many(3)]] }, {}, field(key), false),
  ),
  lie('there is a value of the treasury', { fields: [[21, uint(1)]] }, {}, field(21)),
  lie('there is a donation', { fields: [[22, uint(1)]], outputs: [payment(1, paid - 1n)] }, {}, field(22)),
  lie(
    'the body names another network',
    { fields: [[15, uint(1)]] },
    { fields: [[15, uint(0)]] },
    plain('wrongNetwork'),
  ),
  lie(
    'a script withdraws lovelace',
    withdrawing([script(1), 0n], [script(2), 1n]),
    zeroWithdrawals,
    plain('forbiddenWithdrawal'),
  ),
  lie(
    'a key withdraws',
    withdrawing([Uint8Array.of(0xe0, ...policy(1)), 0n]),
    { fields: [[5, openMap([string(script(1)), uint(0)], [string(script(2)), uint(0)])]] },
    plain('forbiddenWithdrawal'),
  ),
  lie(
    'a script of another network withdraws',
    withdrawing([Uint8Array.of(0xf1, ...policy(1)), 0n]),
    zeroWithdrawals,
    plain('forbiddenWithdrawal'),
  ),
  lie('there are no inputs', { inputs: [] }, {}, plain('noInputs')),
  lie(
    'there are no inputs, in a list of indefinite length',
    { fields: [[0, openList()]] },
    { fields: [[0, openList(encodeOutputReference(coin0), encodeOutputReference(coin1))]] },
    plain('noInputs'),
  ),
  lie(
    'an input is a reference input',
    { referenceInputs: [coin2, coin1] },
    { referenceInputs: [coin2, special(0)] },
    both(1, 1),
  ),
  lie('the body has too many items', withSigners(tooMany), withSigners(tooMany - 1), body),
  lie(
    'a number of the body is not in its shortest form',
    { fields: [[2, longHead(0, 200_000n, 8)]] },
    {},
    body,
  ),
  lie(
    'the witness set has too many items',
    leastFee({ witnessSet: map([uint(4), list(many(997))]) }),
    leastFee({ witnessSet: map([uint(4), list(many(996))]) }),
    witnesses,
  ),
  lie(
    'a length of the witness set is not in its shortest form',
    { witnessSet: map([uint(4), list(concatBytes(longHead(2, 20n, 1), new Uint8Array(20)))]) },
    { witnessSet: map([uint(4), list(string(new Uint8Array(60)))]) },
    witnesses,
  ),
  ...(
    [
      ['inputs', 0, 0],
      ['collateralInputs', 13, 1],
      ['referenceInputs', 18, 1],
    ] as const
  ).map(([set, key, index]) => {
    const [one, two] = key === 0 ? [coin0, coin1] : [coin2, special(0)]
    const open = (reference: typeof one) => openList(string(reference.transactionId), uint(reference.index))
    const items = [one, two].map((each, place) =>
      place === index ? open(each) : encodeOutputReference(each),
    )
    return lie(
      `one of ${set} is a list of indefinite length`,
      { fields: [[key, list(...items)]] },
      { fields: [[key, references([one, two])]] },
      reference(set, index),
    )
  }),
]
