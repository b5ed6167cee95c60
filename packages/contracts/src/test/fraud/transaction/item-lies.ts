import { concatBytes } from '@ratatosk/cbor'
import { payment } from '../blocks.js'
import { lie, strangeItem, type TransactionLie } from './statements.js'
import {
  assets,
  coin0,
  coin1,
  coin2,
  encoded,
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
  string,
  tagged,
  text,
  uint,
} from './transactions.js'

/*
 * Transactions with an item that the ledger does not decode, where other claims read past it. Their twins
 * have an item at the same place.
 */

type Case = readonly [
  what: string,
  item: Uint8Array,
  path: readonly number[],
  same?: readonly [number, number] | undefined,
]

const lies = (
  of: 'body' | 'witness set',
  twin: Plan,
  plan: (item: Uint8Array) => Plan,
  cases: readonly Case[],
): TransactionLie[] =>
  cases.map(([what, item, path, same]) => lie(what, plan(item), twin, strangeItem(of, path, same), false))

const field =
  (key: number) =>
  (item: Uint8Array): Plan => ({ fields: [[key, item]] })
const ofField = (key: number, twin: Uint8Array, ...cases: readonly Case[]) =>
  lies(
    'body',
    field(key)(twin),
    field(key),
    cases.map(([what, item, path, same]) => [what, item, [key, ...path], same]),
  )

const bytes = (length: number) => string(new Uint8Array(length))
const text1 = Uint8Array.of(0x61, 0x61)
const key1 = string(policy(1))
const key2 = string(policy(2))
const otherTag = 259
const setTag = 258

const [gold, silver] = [string(text('gold')), string(text('silver'))]
const token = (quantity: Uint8Array) => map([key1, map([gold, quantity])])
const twice = map([gold, uint(1)], [gold, uint(1)])
const native = list(uint(0), key1)

const witnessSet =
  (key: number) =>
  (item: Uint8Array): Plan => ({ witnessSet: map([uint(key), item]) })
const ofWitnesses = (key: number, twin: Uint8Array, ...cases: readonly Case[]) =>
  lies(
    'witness set',
    witnessSet(key)(twin),
    witnessSet(key),
    cases.map(([what, item, path, same]) => [`there are ${what}`, item, [key, ...path], same]),
  )
const [key, signature] = [bytes(32), bytes(64)]
const units = list(uint(1), uint(1))
const pointer = list(uint(0), uint(0))
const redeemer = (...items: readonly Uint8Array[]) => list(list(...items))
const redeemed = (pointed: Uint8Array, content: Uint8Array) => map([pointed, content])

const witnessItemLies = [
  ...ofWitnesses(
    0,
    list(list(key, signature)),
    ['no key witnesses', list(), []],
    ['key witnesses with another tag', tagged(otherTag, list(list(key, signature))), []],
  ),
  ...ofWitnesses(
    1,
    list(native, list(uint(1), list(native))),
    ['no native scripts', openList(), []],
    ['native scripts, one of which is a number', list(native, uint(1)), [1]],
    [
      'native scripts, one of which has a part that is none',
      list(native, list(uint(1), list(list()))),
      [1, 1, 0],
    ],
  ),
  ...ofWitnesses(
    2,
    list(list(key, signature, bytes(1), bytes(1))),
    ['no bootstrap witnesses', list(), []],
    ['bootstrap witnesses, one without a chain code', list(list(key, signature, uint(1), bytes(1))), [0, 2]],
    ['bootstrap witnesses, one with a list of attributes', list(list(key, signature, gold, list())), [0, 3]],
  ),
  ...[3, 6, 7].flatMap((field) =>
    ofWitnesses(
      field,
      list(gold, silver),
      [`no scripts in field ${field}`, tagged(setTag, list()), [0]],
      [`scripts in field ${field} that are numbers`, list(gold, uint(2n ** 64n - 1n)), [1]],
      [`scripts in field ${field}, one of them twice`, list(gold, silver, gold), [], [2, 0]],
    ),
  ),
  ...ofWitnesses(
    4,
    tagged(setTag, list(gold, gold)),
    ['no datums', list(), []],
    ['datums, one of which is a text', tagged(setTag, list(gold, text1)), [0, 1]],
    ['datums, one of which has a simple value', list(list(Uint8Array.of(0xf6))), [0, 0]],
  ),
  ...ofWitnesses(
    5,
    redeemer(uint(0), uint(0), gold, units),
    ['no redeemers', list(), []],
    ['redeemers, one of three items', redeemer(uint(0), uint(0), gold), [0]],
    ['redeemers, one of purpose 6', redeemer(uint(6), uint(0), gold, units), [0, 0]],
    ['redeemers, one of an index of 33 bits', redeemer(uint(0), uint(2n ** 32n), gold, units), [0, 1]],
    ['redeemers, one of a text', redeemer(uint(0), uint(0), text1, units), [0, 2]],
    ['redeemers, one of three units', redeemer(uint(0), uint(0), gold, list(units, units, units)), [0, 3]],
    [
      'redeemers, one of 64 bits of units',
      redeemer(uint(0), uint(0), gold, list(uint(1), uint(2n ** 63n))),
      [0, 3, 1],
    ],
  ),
  ...ofWitnesses(
    5,
    redeemed(pointer, list(gold, units)),
    ['no redeemers in a map', openMap(), []],
    [
      'redeemers in a map, one of a pointer of three items',
      redeemed(list(pointer, pointer, pointer), list(gold, units)),
      [0],
    ],
    ['redeemers in a map, one of an open pair', redeemed(pointer, openList(gold, units)), [1]],
    ['redeemers in a map, one of a text', redeemed(pointer, list(text1, units)), [1, 0]],
    [
      'redeemers in a map, one of negative units',
      redeemed(pointer, list(gold, list(uint(1), int(-1n)))),
      [1, 1, 1],
    ],
  ),
]

const address = string(keyAddress(60))
const lovelace = uint(paid - 3_000_000n)
const data = (item: Uint8Array) => list(uint(1), encoded(item))
/** An output in the map form, with parts that are others. */
const output = (key: number, item: Uint8Array) => {
  const fields = new Map([
    [0, address],
    [1, list(lovelace, map([key1, map([gold, uint(1)], [silver, uint(1)])], [key2, map([gold, uint(1)])]))],
    [2, data(openList(uint(1), map([gold, tagged(121, list(gold))])))],
    [3, encoded(list(uint(0), list(uint(3), uint(1), list(native, native))))],
  ])
  fields.set(key, item)
  return map(...Array.from(fields, ([field, value]) => [uint(field), value] as const))
}
const paying = (item: Uint8Array): Plan => ({
  outputs: [payment(60, 3_000_000n), item],
})
const mintedOut = map([key1, map([gold, uint(1)], [silver, uint(1)])], [key2, map([gold, uint(1)])])
const honestOutput: Plan = { ...paying(output(0, address)), ...field(9)(mintedOut) }

const ofOutput = (key: number, ...cases: readonly Case[]) =>
  lies(
    'body',
    honestOutput,
    (item) => paying(output(key, item)),
    cases.map(([what, item, path, same]) => [`an output has ${what}`, item, [1, 1, key, ...path], same]),
  )
const value = (tokens: Uint8Array) => list(lovelace, tokens)
const script = (item: Uint8Array) => encoded(list(uint(0), item))

const outputItemLies = [
  ...lies('body', honestOutput, paying, [
    ['an output has four items', list(address, lovelace, bytes(32), uint(0)), [1, 1]],
    ['an open output has four items', openList(address, lovelace, bytes(32), uint(0)), [1, 1]],
    [
      'an output has a value twice',
      map([uint(1), lovelace], [uint(0), address], [uint(1), lovelace]),
      [1, 1],
      [0, 2],
    ],
  ]),
  ...lies('body', paying(list(address, lovelace, bytes(32))), paying, [
    [
      'an output in the array form has a datum hash of 31 bytes',
      list(address, lovelace, bytes(31)),
      [1, 1, 2],
    ],
  ]),
  ...lies('body', field(16)(outputWith({ lovelace: paid, datumHash: new Uint8Array(32) })), field(16), [
    [
      'the collateral return has no datum',
      map([uint(0), address], [uint(1), lovelace], [uint(2), list()]),
      [16, 2],
    ],
  ]),
  ...ofOutput(
    0,
    ['an empty address', string(new Uint8Array()), []],
    ['an address of 28 bytes', string(keyAddress(60).subarray(0, 28)), []],
    ['a key’s address of 30 bytes', string(Uint8Array.of(...keyAddress(60), 0)), []],
    [
      'an address with half a staking part',
      string(Uint8Array.of(...keyAddress(60, 0), ...policy(1).subarray(1))),
      [],
    ],
    [
      'an address with a long pointer',
      string(Uint8Array.of(...keyAddress(60, 0x40), ...new Uint8Array(12))),
      [],
    ],
  ),
  ...ofOutput(
    1,
    ['a value of three items', list(lovelace, map(), uint(1)), []],
    ['none of a token', value(token(uint(0))), [1, 1, 1]],
    ['a policy without tokens', value(map([key1, map()])), [1, 1]],
    ['a policy twice', value(map([key1, map([gold, uint(1)])], [key1, map([silver, uint(1)])])), [1], [0, 1]],
    ['a token twice', value(map([key1, twice])), [1, 1], [0, 1]],
  ),
  ...ofOutput(
    2,
    ['a datum of no kind', list(), []],
    ['a datum of kind 2', list(uint(2), bytes(32)), []],
    ['a datum whose kind is a string', list(gold, bytes(32)), []],
    ['a datum that is a number', uint(1), []],
    ['a datum hash of 31 bytes', list(uint(0), bytes(31)), [1]],
    ['a datum of three items', list(uint(1), encoded(uint(0)), uint(0)), []],
    ['a datum without a tag', list(uint(1), string(uint(0))), [1]],
    ['a datum of another tag', list(uint(1), tagged(25, string(uint(0)))), [1]],
    ['a datum that is not in a string', list(uint(1), tagged(24, uint(0))), [1, 0]],
    ['a datum in chunks', list(uint(1), tagged(24, Uint8Array.of(0x5f, 0x41, 0, 0xff))), [1, 0]],
    ['an empty datum', data(new Uint8Array()), [1, 0]],
    ['a datum with a byte behind it', data(Uint8Array.of(0, 0)), [1, 0]],
    ['a datum that is a text', data(text1), [1, 0, 0]],
    ['a datum with a float', data(openList(uint(1), Uint8Array.of(0xf9, 0, 0))), [1, 0, 0, 1]],
    ['a datum with a long string', data(list(bytes(65))), [1, 0, 0, 0]],
    [
      'a datum with a long chunk',
      data(list(uint(1), concatBytes(Uint8Array.of(0x5f), bytes(64), bytes(65), Uint8Array.of(0xff)))),
      [1, 0, 0, 1, 1],
    ],
    ['a datum with tag 128', data(map([gold, tagged(128, list())])), [1, 0, 0, 1]],
    ['a datum with a constructor that is no list', data(map([tagged(1400, uint(1)), gold])), [1, 0, 0, 0, 0]],
    [
      'a datum with a general constructor of three items',
      data(tagged(102, list(uint(1), list(), uint(1)))),
      [1, 0, 0, 0],
    ],
    [
      'a datum with a general constructor of a string',
      data(tagged(102, list(gold, list()))),
      [1, 0, 0, 0, 0],
    ],
    [
      'a datum with a general constructor of a text',
      data(tagged(102, list(uint(1), list(text1)))),
      [1, 0, 0, 0, 1, 0],
    ],
    ['a datum with a great number that is none', data(tagged(2, uint(1))), [1, 0, 0, 0]],
    [
      'a datum with a great number in a long head',
      data(concatBytes(Uint8Array.of(0xd8, 2), gold)),
      [1, 0, 0],
    ],
  ),
  ...ofOutput(
    3,
    ['a script without a tag', string(list(uint(1), gold)), []],
    ['a script that is not in a string', tagged(24, list(uint(1), gold)), [0]],
    ['a script that is cut', encoded(list(uint(1), gold).subarray(0, -1)), [0]],
    ['a script of language 4', encoded(list(uint(4), gold)), [0, 0]],
    ['a script of three items', encoded(openList(uint(1), gold, gold)), [0, 0]],
    ['a script that is a number', encoded(list(uint(3), uint(1))), [0, 0, 1]],
    ['a native script of kind 6', script(list(uint(6), key1)), [0, 0, 1]],
    ['a native script of a short key', script(list(uint(0), bytes(27))), [0, 0, 1, 1]],
    ['a native script of no list', script(list(uint(1), native)), [0, 0, 1, 1, 0]],
    ['a native script whose number is a string', script(list(uint(3), gold, list())), [0, 0, 1, 1]],
    [
      'a native script whose number is too large',
      script(list(uint(3), uint(2n ** 63n), list())),
      [0, 0, 1, 1],
    ],
    ['a native script of a negative slot', script(list(uint(4), int(-1n))), [0, 0, 1, 1]],
    [
      'a native script that is strange within',
      script(list(uint(3), uint(1), openList(native, list(uint(2), list(native, uint(1)))))),
      [0, 0, 1, 2, 1, 1, 1],
    ],
  ),
]

const account = (key: number) => string(Uint8Array.of(0xf0, ...policy(key)))

const signers = ofField(
  14,
  tagged(setTag, list(key1, key2)),
  ['there are no required signers', list(), []],
  ['a required signer has 27 bytes', list(key1, bytes(27)), [1]],
  ['a required signer is a number', tagged(setTag, openList(key1, uint(1))), [0, 1]],
  ['a required signer is in chunks', list(concatBytes(Uint8Array.of(0x5f), key1, Uint8Array.of(0xff))), [0]],
  ['a required signer is there twice', openList(key1, key2, key1), [], [0, 2]],
  ['the required signers have another tag', tagged(otherTag, list(key1)), []],
)

const sets = [
  ...lies('body', {}, field(0), [
    ['the inputs have another tag', tagged(otherTag, references([coin0, coin1]).subarray(3)), [0]],
  ]),
  ...[13, 18].flatMap((key) =>
    ofField(key, references([coin2]), [`field ${key} has no members`, openList(), []]),
  ),
  ...ofField(
    5,
    map([account(1), uint(0)], [account(2), uint(0)]),
    ['there are no withdrawals', map(), []],
    ['an account withdraws twice', openMap([account(1), uint(0)], [account(1), uint(0)]), [], [0, 1]],
  ),
  ...ofField(11, bytes(32), ['a script data hash has 31 bytes', bytes(31), []]),
  ...lies('body', { auxiliaryData: map() }, field(7), [
    ['the hash of auxiliary data has 33 bytes', bytes(33), [7]],
    ['the hash of auxiliary data is a number', uint(7), [7]],
    ['the hash of auxiliary data is in chunks', Uint8Array.of(0x5f, 0xff), [7]],
  ]),
]

const minted: Plan = {
  ...field(9)(assets(goldTokens)),
  outputs: [outputWith({ lovelace: paid, tokens: goldTokens })],
}
const mints = lies('body', minted, field(9), [
  ['nothing is minted', map(), [9]],
  ['a policy mints nothing', map([key1, openMap()]), [9, 1]],
  ['none of a token is minted', token(uint(0)), [9, 1, 1]],
  ['more of a token is minted than 63 bits hold', token(uint(2n ** 63n)), [9, 1, 1]],
  ['more of a token is burned than 63 bits hold', token(int(-1n - 2n ** 63n)), [9, 1, 1]],
  [
    'a policy is minted twice',
    openMap([key1, map([gold, uint(1)])], [key1, map([silver, uint(1)])]),
    [9],
    [1, 0],
  ],
  ['a token is minted twice', map([key1, twice]), [9, 1], [0, 1]],
])

const bodyItemLies = [...signers, ...sets, ...mints]

/** Transactions with an item that the ledger does not decode. */
export const itemLies: readonly TransactionLie[] = [...bodyItemLies, ...outputItemLies, ...witnessItemLies]

/** Those that each engine runs. */
const run = new Set([
  'a required signer has 27 bytes',
  'a required signer is there twice',
  'the hash of auxiliary data is in chunks',
  'a policy is minted twice',
  'an output has a key’s address of 30 bytes',
  'an output has a datum with a byte behind it',
  'an output has a datum with a general constructor of a text',
  'an output has a native script that is strange within',
  'there are redeemers in a map, one of an open pair',
])

export const someItemLies = itemLies.filter(({ what }) => run.has(what))
