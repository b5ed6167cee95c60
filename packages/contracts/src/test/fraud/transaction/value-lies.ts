import { payment } from '../blocks.js'
import { lie, type TransactionLie } from './lie.js'
import {
  data,
  goldAsset,
  leastFee,
  moreGold,
  other,
  pays,
  redeemerList,
  redeemerMap,
  silver,
  unitsFee,
  withGold,
} from './plans.js'
import { fee, value } from './statements.js'
import { coin2, gold, paid, specials } from './transactions.js'

/** Values that are not preserved, and fees that are too small. */
export const valueLies: readonly TransactionLie[] = [
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
