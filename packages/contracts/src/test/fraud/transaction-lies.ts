import { partsOf } from '@ratatosk/block'
import { concatBytes } from '@ratatosk/cbor'
import {
  type Asset,
  type OutputPlace,
  openRecord,
  openTransaction,
  type ResolvedOutputs,
  type TransactionFraudProof,
} from '@ratatosk/fraud'
import { blake2b256, decodeTransaction, encodeOutputReference, validateProfile } from '@ratatosk/ledger'
import { payment, type TestBlock } from './blocks.js'
import {
  blockWith,
  coin0,
  coin1,
  coin2,
  firstSlot,
  gold,
  goldTokens,
  int,
  keyAddress,
  lastSlot,
  list,
  longHead,
  map,
  openList,
  openMap,
  outputWith,
  type Plan,
  paid,
  policy,
  references,
  special,
  specials,
  string,
  text,
  transfer,
  uint,
} from './transactions.js'

/** @param position of the transaction; the first by default */
type Prove = (block: TestBlock, position?: number) => TransactionFraudProof

/** A block that breaks one rule, the proof of it, and the same block without the breach. */
export interface TransactionLie {
  readonly what: string
  readonly block: TestBlock
  readonly twin: TestBlock
  readonly prove: Prove
  /** Whether the ledger decodes the transaction. */
  readonly isDecoded: boolean
}

const lie = (what: string, plan: Plan, twin: Plan, prove: Prove, isDecoded = true): TransactionLie => ({
  what,
  block: blockWith(plan),
  twin: blockWith(twin),
  prove,
  isDecoded,
})

/**
 * What the inputs of a transaction stand for. @param count of outputs that are shown; by default those of all
 * inputs
 */
export function resolvedOf(block: TestBlock, count?: number, position = 0): ResolvedOutputs {
  const { inputs, referenceInputs } = partsOf(block.transactions[position]!)
  const outputs = [...inputs, ...referenceInputs].map(
    (one) => block.outputBefore!(encodeOutputReference(one))!,
  )
  const shown = count ?? inputs.length
  return {
    outputs: outputs.slice(0, shown),
    hashes: concatBytes(...outputs.slice(shown).map(blake2b256)),
  }
}

const witnessSetOf = (block: TestBlock, position = 0): Uint8Array =>
  partsOf(block.transactions[position]!).witnessSet

const transactionOf = (block: TestBlock, position = 0) => openTransaction(block, position)

const value =
  (asset: Asset = {}): Prove =>
  (block, position) => ({
    fraud: 'valueNotPreserved',
    transaction: transactionOf(block, position),
    resolved: resolvedOf(block, undefined, position),
    asset,
  })
const fee =
  (auxiliaryData?: Uint8Array, shown?: number): Prove =>
  (block, position) => ({
    fraud: 'feeTooSmall',
    transaction: transactionOf(block, position),
    witnessSet: witnessSetOf(block, position),
    ...(auxiliaryData && { auxiliaryData }),
    ...(shown !== undefined && { resolved: resolvedOf(block, shown, position) }),
  })
const output =
  (fraud: 'outputTooSmall' | 'outputOnOtherNetwork', place: OutputPlace): Prove =>
  (block, position) => ({ fraud, transaction: transactionOf(block, position), output: place })
const plain =
  (fraud: 'outsideInterval' | 'wrongNetwork' | 'forbiddenWithdrawal' | 'noInputs'): Prove =>
  (block, position) => ({ fraud, transaction: transactionOf(block, position) })
const field =
  (key: number): Prove =>
  (block, position) => ({ fraud: 'forbiddenField', transaction: transactionOf(block, position), key })
const both =
  (input: number, referenceInput: number): Prove =>
  (block, position) => ({
    fraud: 'inputIsReferenceInput',
    transaction: transactionOf(block, position),
    input,
    referenceInput,
  })
const body: Prove = (block, position) => ({ fraud: 'unreadablePart', part: transactionOf(block, position) })
const witnesses: Prove = (block, position) => ({
  fraud: 'unreadablePart',
  part: { record: openRecord(block, position ?? 0), witnessSet: witnessSetOf(block, position) },
})
const reference =
  (set: 'inputs' | 'collateralInputs' | 'referenceInputs', index: number): Prove =>
  (block, position) => ({
    fraud: 'unreadableReference',
    transaction: transactionOf(block, position),
    set,
    index,
  })

export const prove = { value, fee, output, plain, field, both, body, witnesses, reference }

/** Pays everything that the inputs hold, but for the fee, to one output. */
const pays = (lovelace: bigint, tokens = goldTokens) => outputWith({ lovelace, tokens })
const withGold = (input = specials.gold, tokens = goldTokens, minted?: readonly (typeof gold)[]): Plan => ({
  inputs: [input],
  outputs: [pays(4_800_000n, tokens)],
  ...(minted && { fields: [[9, assetsOf(minted)]] }),
})
const assetsOf = (tokens: readonly (typeof gold)[]) =>
  map(...tokens.map(([id, name, quantity]) => [string(id), map([string(name), int(quantity)])] as const))
const goldAsset: Asset = { policy: gold[0], name: gold[1] }
const [other, silver] = goldTokens as [typeof gold, typeof gold]
const moreGold: typeof gold = [gold[0], gold[1], gold[2] + 1n]

const script = (byte: number) => Uint8Array.of(0xf0, ...policy(byte))
const withdrawing = (...entries: readonly (readonly [Uint8Array, bigint])[]): Plan => ({
  fields: [[5, map(...entries.map(([account, amount]) => [string(account), uint(amount)] as const))]],
})
const zeroWithdrawals = withdrawing([script(1), 0n], [script(2), 0n])
const interval = (from?: bigint, until?: bigint): Plan => ({
  fields: [
    ...(until === undefined ? [] : [[3, uint(until)] as const]),
    ...(from === undefined ? [] : [[8, uint(from)] as const]),
  ],
})

const data = map([uint(1), list(...Array.from({ length: 5 }, () => string(new Uint8Array(60))))])
/** A redeemer that declares as many units as cost 0.1 ada. */
const units = list(uint(1_000_000), uint(587_000_000))
const redeemerList = (...pointers: readonly (readonly [number, number])[]) =>
  map([
    uint(5),
    list(
      ...pointers.map(([purpose, index]) => list(uint(purpose), uint(index), list(uint(1), uint(2)), units)),
    ),
  ])
const redeemerMap = (...pointers: readonly (readonly [number, number])[]) =>
  map([
    uint(5),
    openMap(
      ...pointers.map(
        ([purpose, index]) => [list(uint(purpose), uint(index)), list(string(text('x')), units)] as const,
      ),
    ),
  ])

/** A transfer with as little fee as its bytes cost, and what is missing added by `more`. */
const leastFee = (plan: Plan, more = 0n): Plan => {
  let least = 0n
  for (let tries = 0; tries < 3; tries++) {
    const size = BigInt(blockWith({ ...plan, ...paying(least) }).transactions[0]!.length - 1)
    least = 44n * size + 155_381n + more
  }
  return { ...plan, ...paying(least) }
}
const paying = (amount: bigint): Plan => ({
  fee: amount,
  outputs: [payment(60, 3_000_000n), payment(61, 7_000_000n - amount)],
})
/** Of two redeemers, rounded up. */
const unitsFee = 200_046n

/** Names that are minted and paid, and keys that must sign: each key is an item. */
function withSigners(count: number): Plan {
  const names = Array.from({ length: 200 }, (_, i) => [string(Uint8Array.of(i, i)), uint(1)] as const)
  const tokens = map([string(policy(5)), map(...names)])
  const value = list(uint(9_000_000), tokens)
  return {
    fee: 1_000_000n,
    outputs: [map([uint(0), string(keyAddress(60))], [uint(1), value])],
    fields: [
      [9, tokens],
      [14, list(...Array.from({ length: count }, (_, i) => string(new Uint8Array(28).fill(i))))],
    ],
  }
}
/** The fewest keys with which the body has too many items. */
const tooMany =
  Array.from({ length: 250 }, (_, count) => count).find((count) =>
    validateProfile(decodeTransaction(transfer(withSigners(count + 1)).cbor)).some(
      ({ predicate }) => predicate === 'TooManyItems',
    ),
  )! + 1

const many = (count: number) => list(...Array.from({ length: count }, () => uint(1)))

export const transactionLies: readonly TransactionLie[] = [
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
