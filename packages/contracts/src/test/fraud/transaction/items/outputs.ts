import { concatBytes } from '@ratatosk/cbor'
import { payment } from '../../blocks.js'
import {
  encoded,
  int,
  keyAddress,
  list,
  map,
  openList,
  outputWith,
  type Plan,
  paid,
  policy,
  string,
  tagged,
  uint,
} from '../transactions.js'
import {
  bytes,
  type Case,
  field,
  gold,
  key1,
  key2,
  lies,
  native,
  silver,
  text1,
  token,
  twice,
} from './case.js'

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

export const outputItemLies = [
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
