import { crc32 } from 'node:zlib'
import { concatBytes } from '@ratatosk/cbor'
import { encodeOutputReference, type OutputReference, profileLimits } from '@ratatosk/ledger'
import { payment } from '../blocks.js'
import { someItemLies } from './item-lies.js'
import { shapeLies } from './shape-lies.js'
import {
  body,
  both,
  excessive,
  fee,
  field,
  lie,
  output,
  plain,
  reference,
  resolved,
  type TransactionLie,
  value,
  witnesses,
} from './statements.js'
import {
  coin0,
  coin1,
  coin2,
  data,
  firstSlot,
  gold,
  goldAsset,
  interval,
  keyAddress,
  lastSlot,
  leastFee,
  list,
  longHead,
  many,
  map,
  moreGold,
  ofManyItems,
  openList,
  openMap,
  other,
  outputWith,
  type Plan,
  paid,
  pays,
  policy,
  redeemerList,
  redeemerMap,
  references,
  script,
  silver,
  special,
  specials,
  string,
  text,
  tooMany,
  uint,
  unitsFee,
  withdrawing,
  withGold,
  withSigners,
  zeroWithdrawals,
} from './transactions.js'

/** Values that are not preserved, and fees that are too small. */
const valueLies: readonly TransactionLie[] = [
  lie(
    'lovelace comes from nowhere',
    { outputs: [payment(60, paid + 1n)] },
    { outputs: [payment(60, paid)] },
    value(),
  ),
  lie(
    'lovelace disappears',
    { outputs: [payment(60, paid - 1n)] },
    { outputs: [payment(60, paid)] },
    value(),
  ),
  lie(
    'lovelace comes from nowhere beside reference inputs, in a body of indefinite length',
    { referenceInputs: [coin2], indefinite: true, fee: 199_999n },
    { referenceInputs: [coin2], indefinite: true },
    value(),
  ),
  lie('tokens come from nowhere', { outputs: [pays(paid, [gold])] }, withGold(), value(goldAsset)),
  ...(['gold', 'goldInArray', 'goldOpen'] as const).map((name) =>
    lie(
      `tokens grow on the way from ${name}`,
      withGold(specials[name], [other, silver, moreGold]),
      withGold(specials[name]),
      value(goldAsset),
    ),
  ),
  lie(
    'tokens disappear',
    withGold(specials.gold, [other, gold]),
    withGold(),
    value({ policy: silver[0], name: silver[1] }),
  ),
  lie(
    'more is paid than minted',
    withGold(specials.gold, [other, silver, [gold[0], gold[1], 12n]], [[gold[0], gold[1], 4n]]),
    withGold(specials.gold, [other, silver, [gold[0], gold[1], 11n]], [[gold[0], gold[1], 4n]]),
    value(goldAsset),
  ),
  lie(
    'less is burned than disappears',
    withGold(specials.gold, [other, silver, [gold[0], gold[1], 1n]], [[gold[0], gold[1], -5n]]),
    withGold(specials.gold, [other, silver, [gold[0], gold[1], 2n]], [[gold[0], gold[1], -5n]]),
    value(goldAsset),
  ),
  lie(
    'a token without a name comes from nowhere',
    { outputs: [pays(paid, [other])] },
    withGold(),
    value({ policy: other[0], name: other[1] }),
  ),
  lie('the fee is too small for the bytes', leastFee({}, -1n), leastFee({}), fee()),
  lie(
    'the fee is too small for the auxiliary data',
    leastFee({ auxiliaryData: data }, -1n),
    leastFee({ auxiliaryData: data }),
    fee(data),
  ),
  ...(
    [
      ['a list', redeemerList([0, 0], [1, 0])],
      ['a map', redeemerMap([0, 0], [1, 0])],
    ] as const
  ).map(([what, witnessSet]) =>
    lie(
      `the fee is too small for the units of redeemers in ${what}`,
      leastFee({ witnessSet }, unitsFee - 1n),
      leastFee({ witnessSet }, unitsFee),
      fee(),
    ),
  ),
  lie(
    'the fee is too small for the units of redeemers, the last of which replaces another',
    leastFee({ witnessSet: redeemerList([0, 0], [1, 0], [0, 0]) }, unitsFee - 1n),
    leastFee({ witnessSet: redeemerList([0, 0], [1, 0], [0, 0]) }, unitsFee),
    fee(),
  ),
  lie(
    'the fee is too small for a Plutus script that is referred to',
    leastFee({ referenceInputs: [specials.plutus] }, 2000n * 15n - 1n),
    leastFee({ referenceInputs: [specials.plutus] }, 2000n * 15n),
    fee(undefined, 3),
  ),
  lie(
    'the fee is too small for a native script that is referred to',
    leastFee({ referenceInputs: [specials.native, coin2] }, 32n * 15n - 1n),
    leastFee({ referenceInputs: [specials.native, coin2] }, 32n * 15n),
    fee(undefined, 3),
  ),
]

/** The text of an anchor's URL. */
const anchor = concatBytes(Uint8Array.of(0x71), text('https://a.example'))

/** Transactions with a field that layer 2 does not allow. */
const forbiddenLies: readonly TransactionLie[] = [
  lie(
    'there is a certificate',
    { fields: [[4, list(list(uint(7), list(uint(0), string(policy(1))), uint(2_000_000)))]] },
    {},
    field(4),
  ),
  ...[6, 10, 12, 23].map((key) =>
    lie(`there is a field ${key}`, { fields: [[key, many(3)]] }, {}, field(key), false),
  ),
  lie(
    'there is a vote',
    {
      fields: [
        [
          19,
          map([
            list(uint(2), string(policy(1))),
            map([list(string(new Uint8Array(32)), uint(0)), list(uint(1), Uint8Array.of(0xf6))]),
          ]),
        ],
      ],
    },
    {},
    field(19),
  ),
  lie(
    'there is a proposal',
    {
      fields: [
        [
          20,
          list(
            list(
              uint(0),
              string(concatBytes(Uint8Array.of(0xe0), policy(1))),
              list(uint(6)),
              list(anchor, string(new Uint8Array(32))),
            ),
          ),
        ],
      ],
    },
    {},
    field(20),
  ),
  lie('there is a value of the treasury', { fields: [[21, uint(1)]] }, {}, field(21)),
  lie('there is a donation', { fields: [[22, uint(1)]], outputs: [payment(1, paid - 1n)] }, {}, field(22)),
]

/** Of a test network, which the attributes name. */
const byron = (() => {
  const attributes = map([uint(2), string(uint(1))])
  const content = list(string(new Uint8Array(28).fill(5)), attributes, uint(0))
  return list(concatBytes(Uint8Array.of(0xd8, 24), string(content)), uint(crc32(content)))
})()

/** Outputs of 5 ada. */
const story = (from: number, count: number): OutputReference[] =>
  Array.from({ length: count }, (_, i) => ({ transactionId: coin0.transactionId, index: from + i }))

/** A body of one output, with a reference script of so many bytes. */
const withScriptOf = (length: number): Plan => ({
  inputs: story(0, 20),
  fee: 1_000_000n,
  outputs: [outputWith({ lovelace: 99_000_000n, script: list(uint(1), string(new Uint8Array(length))) })],
})

const numbered = (length: number, number: number) => new Uint8Array(length).fill(1).with(0, number)

export const transactionLies: readonly TransactionLie[] = [
  ...valueLies,
  ...shapeLies,
  ...someItemLies,
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
  ...forbiddenLies,
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
  lie('the body has too many bytes', withScriptOf(13_700), withScriptOf(13_400), body),
  lie(
    'a number of the body is not in its shortest form',
    { fields: [[2, longHead(0, 200_000n, 8)]] },
    {},
    body,
  ),
  lie(
    'the witness set has too many items',
    leastFee({ witnessSet: map([uint(4), list(many(profileLimits.witnessSetItems - 3))]) }),
    leastFee({ witnessSet: map([uint(4), list(many(profileLimits.witnessSetItems - 4))]) }),
    witnesses,
  ),
  ...(
    [
      [
        0,
        profileLimits.keyWitnesses,
        'key witnesses',
        (i) => list(string(numbered(32, i)), string(new Uint8Array(64))),
      ],
      [1, profileLimits.scripts, 'script witnesses', (i) => list(uint(0), string(numbered(28, i)))],
      [4, profileLimits.datums, 'datums', uint],
      [
        5,
        profileLimits.redeemers,
        'redeemers',
        (i) => list(uint(0), uint(i), uint(0), list(uint(0), uint(0))),
      ],
    ] as const satisfies readonly (readonly [number, number, string, (i: number) => Uint8Array])[]
  ).map(([field, most, what, item]) => {
    const holding = (count: number) =>
      leastFee({ witnessSet: map([uint(field), list(...Array.from({ length: count }, (_, i) => item(i)))]) })
    return lie(`there are too many ${what}`, holding(most + 1), holding(most), excessive('witness set'))
  }),
  ...(
    [
      ['inputs', profileLimits.inputs + 1, 0],
      ['reference inputs', 1, Math.floor((profileLimits.inputs - 1) / 2) + 1],
    ] as const
  ).map(([what, spent, read]) => {
    const spending = (less: number) => ({
      inputs: story(0, spent - (read > 0 ? 0 : less)),
      ...(read > 0 && { referenceInputs: story(spent, read - less) }),
      fee: 500_000n,
      outputs: [payment(60, 5_000_000n * BigInt(spent - (read > 0 ? 0 : less)) - 500_000n)],
    })
    return lie(`there are too many ${what}`, spending(0), spending(1), excessive('body'))
  }),
  ...(() => {
    const paying = (count: number) => ({
      inputs: story(0, 40),
      fee: 500_000n,
      outputs: [
        ...Array.from({ length: count - 1 }, () => outputWith({ lovelace: 1_500_000n, form: 'array' })),
        payment(99, 199_500_000n - 1_500_000n * BigInt(count - 1)),
      ],
    })
    const { outputs } = profileLimits
    return [lie('there are too many outputs', paying(outputs + 1), paying(outputs), excessive('body'))]
  })(),
  ...(() => {
    const spending = (last: number) => ({
      inputs: [...ofManyItems.slice(0, 52), ofManyItems[last]!].map(([reference]) => reference),
      fee: 500_000n,
      outputs: [payment(60, 264_500_000n)],
    })
    return [
      lie('the outputs that inputs stand for have too many items', spending(52), spending(53), resolved),
    ]
  })(),
  lie(
    'an output pays to an address of the Byron era',
    { outputs: [outputWith({ lovelace: paid, address: byron })] },
    { outputs: [outputWith({ lovelace: paid })] },
    output('outputOnOtherNetwork', 0),
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
