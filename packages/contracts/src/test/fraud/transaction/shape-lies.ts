import { concatBytes } from '@ratatosk/cbor'
import { encodeOutputReference } from '@ratatosk/ledger'
import { blockOf, payment } from '../blocks.js'
import {
  lie,
  malformed,
  reference,
  repeated,
  strangeField,
  strangeOutput,
  strangeWitness,
  type TransactionLie,
} from './statements.js'
import {
  assets,
  blockWith,
  coin0,
  coin1,
  coin2,
  goldTokens,
  int,
  keyAddress,
  list,
  map,
  openList,
  openMap,
  outputWith,
  type Plan,
  paid,
  policy,
  references,
  special,
  string,
  text,
  transfer,
  uint,
  unspentBefore,
} from './transactions.js'

/*
 * Transactions that the ledger does not decode, or layer 2 does not take. Their twins have the same places.
 */

const notDecoded = (what: string, plan: Plan, twin: Plan, prove: TransactionLie['prove']): TransactionLie =>
  lie(what, plan, twin, prove, false)

/** Bytes that are no transaction count as a body without a witness set. */
const unframed = (what: string, bytes: Uint8Array, prove: TransactionLie['prove']): TransactionLie => ({
  what,
  block: blockOf([bytes], unspentBefore()),
  twin: blockWith(),
  prove,
  isDecoded: false,
})

const honestBody = transfer().body
const needed = [
  [uint(0), references([coin0, coin1])],
  [uint(1), list(payment(60, paid))],
  [uint(2), uint(200_000)],
] as const
const [inputs, outputs, fee] = needed
const open = openMap(...needed)

const bodyWith = (entries: readonly (readonly [Uint8Array, Uint8Array])[]): Plan => ({
  body: map(...entries),
})
const fieldOf = (key: number, item: Uint8Array): Plan => ({ fields: [[key, item]] })
const mint = (item: Uint8Array) => fieldOf(9, item)
const minted: Plan = {
  ...mint(assets(goldTokens)),
  outputs: [outputWith({ lovelace: paid, tokens: goldTokens })],
}

const strangeBodies: readonly TransactionLie[] = [
  unframed('a body is cut', honestBody.subarray(0, -1), malformed('body')),
  unframed('a byte follows a body', concatBytes(honestBody, uint(0)), malformed('body')),
  unframed('a body has a reserved head', honestBody.with(0, 0xbc), malformed('body')),
  unframed(
    'an open body ends within an entry',
    concatBytes(open.subarray(0, -1), uint(3), open.subarray(-1)),
    malformed('body'),
  ),
  unframed('a break is where an item must be', concatBytes(Uint8Array.of(0x81, 0xff)), malformed('body')),
  unframed('there is no witness set', honestBody, malformed('witness set')),
  unframed('a body is a list', list(...needed.flat()), strangeField('body', 0)),
  ...[24, 0x19, 0x20, 0x40].map((first) => {
    const key = first === 24 ? Uint8Array.of(24, 24) : first === 0x19 ? uint(256) : Uint8Array.of(first)
    return notDecoded(
      `a body begins with a key of first byte ${first}`,
      bodyWith([[key, uint(1)], ...needed]),
      {},
      strangeField('body', first),
    )
  }),
  notDecoded('a body has a field twice', bodyWith([...needed, fee]), {}, strangeField('body', 2)),
  ...needed.map((_, key) =>
    notDecoded(
      `a body lacks field ${key}`,
      bodyWith(needed.filter((_field, place) => place !== key)),
      {},
      strangeField('body', key),
    ),
  ),
  ...[0, 13, 14, 18].map((key) =>
    notDecoded(
      `field ${key} is a tagged number`,
      fieldOf(key, Uint8Array.of(0xd9, 1, 2, 1)),
      key === 0 ? {} : fieldOf(key, key === 14 ? list(string(policy(1))) : references([coin2])),
      strangeField('body', key),
    ),
  ),
  notDecoded(
    'the outputs have a tag',
    bodyWith([inputs, [uint(1), concatBytes(Uint8Array.of(0xd9, 1, 2), outputs[1])], fee]),
    {},
    strangeField('body', 1),
  ),
  ...[2, 3, 8, 15, 17].map((key) =>
    notDecoded(
      `field ${key} is a string`,
      fieldOf(key, string(Uint8Array.of(1))),
      key === 2 ? {} : fieldOf(key, uint(key === 3 ? 2000 : 0)),
      strangeField('body', key),
    ),
  ),
  notDecoded(
    'withdrawals are a list',
    fieldOf(5, list()),
    fieldOf(5, map([string(Uint8Array.of(0xf0, ...policy(1))), uint(0)])),
    strangeField('body', 5),
  ),
  ...(
    [
      ['a list', list()],
      ['of a short policy', map([string(policy(1).subarray(1)), map([string(text('a')), uint(1)])])],
      ['of a number for a policy', map([uint(1), map([string(text('a')), uint(1)])])],
      ['of no names', map([string(policy(1)), uint(1)])],
      ['of a long name', map([string(policy(1)), map([string(new Uint8Array(33)), uint(1)])])],
      ['of a number for a name', map([string(policy(1)), map([uint(1), uint(1)])])],
      ['of no quantity', map([string(policy(1)), map([string(text('a')), list()])])],
    ] as const
  ).map(([what, item]) => notDecoded(`the mint is ${what}`, mint(item), minted, strangeField('body', 9))),
  notDecoded(
    'the second name of the second policy in a mint is a number',
    mint(
      map(
        [string(policy(1)), map([string(text('a')), uint(1)])],
        [string(policy(2)), openMap([string(text('a')), int(-1n)], [uint(1), uint(1)])],
      ),
    ),
    minted,
    strangeField('body', 9, { policy: 1, name: 1 }),
  ),
]

const payingTo = (...items: readonly Uint8Array[]): Plan => ({
  outputs: [payment(60, 3_000_000n), ...items],
})
const address = string(keyAddress(60))
const lovelace = uint(paid - 3_000_000n)
const ofValue = (value: Uint8Array) => map([uint(0), address], [uint(1), value])
const ofTokens = (tokens: Uint8Array) => ofValue(list(lovelace, tokens))
const token = (quantity: Uint8Array) => map([string(policy(1)), map([string(text('a')), quantity])])
const names = [0, 1].map((name) => [string(Uint8Array.of(name)), uint(1)] as const)
const manyTokens = (shape: typeof map, second = string(policy(2))) =>
  shape([string(policy(1)), map(...names)], [second, shape(...names, [string(Uint8Array.of(2)), uint(1)])])

const strangeOutputs: readonly TransactionLie[] = (
  [
    ['a number', uint(1)],
    ['a map without a value', map([uint(0), address])],
    ['a map without an address', map([uint(1), lovelace])],
    ['a map with a field 4', map([uint(4), uint(1)], [uint(0), address], [uint(1), lovelace])],
    ['an array of an address', list(address)],
    ['of an address in chunks', map([uint(0), Uint8Array.of(0x5f, 0xff)], [uint(1), lovelace])],
    ['of a negative value', ofValue(int(-5n))],
    ['of a value without assets', ofValue(list(lovelace))],
    ['of a value whose lovelace is a list', ofValue(list(list(), token(uint(1))))],
    ['of a value whose assets are a list', ofTokens(list())],
    ['of a negative quantity', ofTokens(token(int(-5n)))],
    ['of a number for a policy', ofTokens(map([uint(0), uint(0)], [string(policy(1)), map()]))],
    ['of a number for the second policy', ofTokens(manyTokens(openMap, uint(0))), { policy: 1, name: 0 }],
    [
      'of a number for the third name',
      ofTokens(openMap([string(policy(1)), openMap(...names, [uint(1), uint(1)])])),
      { policy: 0, name: 2 },
    ],
  ] as const
).map(([what, item, asset]) =>
  notDecoded(
    `an output is ${what}`,
    payingTo(item),
    { ...payingTo(ofTokens(manyTokens(map))), ...mint(manyTokens(openMap)) },
    strangeOutput(1, asset),
  ),
)

const key = new Uint8Array(32).fill(5)
const signature = new Uint8Array(64).fill(6)
const keyWitness = list(string(key), string(signature))
const bootstrap = list(string(key), string(signature), string(key), string(Uint8Array.of(0xa0)))
const witnessSet = (field: number, item: Uint8Array): Plan => ({ witnessSet: map([uint(field), item]) })
const signed = witnessSet(0, list(keyWitness, keyWitness))

const strangeWitnesses: readonly TransactionLie[] = [
  notDecoded('a witness set is a list', { witnessSet: list() }, {}, strangeField('witness set', 0)),
  notDecoded(
    'a witness set has a field 8',
    witnessSet(8, list()),
    witnessSet(4, list(string(key))),
    strangeField('witness set', 8),
  ),
  notDecoded(
    'a witness set has a field twice',
    { witnessSet: map([uint(0), list(keyWitness)], [uint(0), list(keyWitness)]) },
    signed,
    strangeField('witness set', 0),
  ),
  ...[0, 1, 2, 3, 4, 5, 6, 7].map((field) =>
    notDecoded(
      `field ${field} of a witness set is a string`,
      witnessSet(field, string(key)),
      {},
      strangeField('witness set', field),
    ),
  ),
  ...(
    [
      ['has a key of 31 bytes', list(string(key.subarray(1)), string(signature))],
      ['has a signature of 63 bytes', list(string(key), string(signature.subarray(1)))],
      ['has three items', list(string(key), string(signature), uint(0))],
      ['is a number', uint(0)],
    ] as const
  ).map(([what, item]) =>
    notDecoded(
      `the second key witness ${what}`,
      witnessSet(0, list(keyWitness, item)),
      signed,
      strangeWitness(false, 1),
    ),
  ),
  lie(
    'the second key witness is a list of indefinite length',
    witnessSet(0, list(keyWitness, openList(string(key), string(signature)))),
    signed,
    strangeWitness(false, 1),
  ),
  notDecoded(
    'a bootstrap witness has two items',
    witnessSet(2, list(keyWitness)),
    witnessSet(2, list(bootstrap)),
    strangeWitness(true, 0),
  ),
]

const fieldOfSet = { inputs: 0, collateralInputs: 13, referenceInputs: 18 } as const
const long = concatBytes(encodeOutputReference(coin2).subarray(0, 35), Uint8Array.of(26, 0, 1, 0, 0))

const strangeReferences: readonly TransactionLie[] = [
  ...(Object.keys(fieldOfSet) as (keyof typeof fieldOfSet)[]).map((set) => {
    const [one, two, three] = set === 'inputs' ? [coin0, coin1, coin1] : [coin2, special(0), special(1)]
    return notDecoded(
      `one of ${set} is there twice`,
      fieldOf(fieldOfSet[set], references([one, two, one])),
      fieldOf(fieldOfSet[set], references(three === two ? [one, two] : [one, two, three])),
      repeated(set, 0, 2),
    )
  }),
  ...(
    [
      ['has an id of 31 bytes', list(string(new Uint8Array(31)), uint(0))],
      ['has an index over 65,535', long],
      ['has an index that is a string', list(string(new Uint8Array(32)), string(Uint8Array.of(1)))],
    ] as const
  ).map(([what, item]) =>
    notDecoded(
      `an input ${what}`,
      fieldOf(0, list(encodeOutputReference(coin0), item)),
      {},
      reference('inputs', 1),
    ),
  ),
]

/** Parts that are no items of CBOR, and fields, outputs, witnesses and references that are none. */
export const shapeLies: readonly TransactionLie[] = [
  ...strangeBodies,
  ...strangeOutputs,
  notDecoded(
    'the collateral return is a number',
    fieldOf(16, uint(1)),
    fieldOf(16, payment(1, 5_000_000n)),
    strangeOutput('collateralReturn'),
  ),
  ...strangeWitnesses,
  ...strangeReferences,
]
