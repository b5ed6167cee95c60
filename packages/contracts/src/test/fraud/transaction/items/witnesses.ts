import { int, list, map, openList, openMap, type Plan, tagged, uint } from '../transactions.js'
import { bytes, type Case, gold, lies, native, otherTag, setTag, silver, text1 } from './case.js'

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

export const witnessItemLies = [
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
