import { concatBytes } from '@ratatosk/cbor'
import { payment } from '../blocks.js'
import { lie, type TransactionLie } from './lie.js'
import { many } from './plans.js'
import { field } from './statements.js'
import { list, map, paid, policy, string, text, uint } from './transactions.js'

/** The text of an anchor's URL. */
const anchor = concatBytes(Uint8Array.of(0x71), text('https://a.example'))

/** Transactions with a field that layer 2 does not allow. */
export const forbiddenLies: readonly TransactionLie[] = [
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
