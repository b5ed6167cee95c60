import { concatBytes } from '@ratatosk/cbor'
import {
  assets,
  coin0,
  coin1,
  coin2,
  goldTokens,
  int,
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
  uint,
} from '../transactions.js'
import {
  bytes,
  field,
  gold,
  key1,
  key2,
  lies,
  ofField,
  otherTag,
  setTag,
  silver,
  token,
  twice,
} from './case.js'

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

export const bodyItemLies = [...signers, ...sets, ...mints]
