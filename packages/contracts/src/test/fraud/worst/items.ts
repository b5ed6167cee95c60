import { profileLimits } from '@ratatosk/ledger'
import { type Prove, prove } from '../transaction/statements.js'
import {
  encoded,
  keyAddress,
  list,
  map,
  openList,
  openMap,
  policy,
  string,
  tagged,
  text,
  uint,
} from '../transaction/transactions.js'
import { numbered, type Worst, worst } from './transactions.js'

/*
 * The costliest proofs of `strangeItem`: in the longest lists, and in the deepest data. In strings, layer 2
 * bounds no items; what is measured is the most that documents promise.
 */

/** Items of a string that a proof can read. */
const embeddedItems = 200
const others = 12
const count = profileLimits.bodyItems - others

const fee = [2, uint(200_000)] as const
const address = string(keyAddress(7))
const signers = Array.from({ length: count }, (_, i) => string(numbered(28, i)))
const strange = Uint8Array.of(0x61, 0x61)

/** Data of this many items, two for each level. */
function nested(items: number): Uint8Array {
  let data: Uint8Array = strange
  for (let level = 0; 2 * level < items - 2; level++) data = tagged(121, list(data))
  return data
}
const steps = (items: number) => new Array<number>(items % 2 === 0 ? items - 2 : items - 1).fill(0)

const withDatum = (datum: Uint8Array): Worst => {
  const output = openMap(
    [uint(2), list(uint(1), encoded(datum))],
    [uint(0), address],
    [uint(1), uint(5_000_000)],
  )
  return worst([fee, [1, openList(output)]])
}
const flat = (...last: readonly Uint8Array[]) =>
  openList(...Array.from({ length: embeddedItems - 2 }, () => uint(1)), ...last)

const cases: readonly (readonly [what: string, transaction: Worst, proof: Prove])[] = [
  [
    'the last of a list',
    worst([fee, [14, openList(...signers.slice(1), string(policy(1).subarray(1)))]], undefined, false),
    prove.strangeItem('body', [14, count - 1]),
  ],
  [
    'two equal ones at the end of a list',
    worst([fee, [14, openList(...signers, ...signers.slice(-1))]], undefined, false),
    prove.strangeItem('body', [14], [count - 1, count]),
  ],
  [
    'a list that is too long',
    worst([fee, [1, openList(openList(address, uint(1), ...signers.slice(8)))]], undefined, false),
    prove.strangeItem('body', [1, 0]),
  ],
  [
    'the last quantity of a mint',
    worst(
      [
        fee,
        [
          9,
          openMap(
            ...signers.slice(0, count / 4).map((id) => [id, map([string(text('a')), uint(0)])] as const),
          ),
        ],
      ],
      undefined,
      false,
    ),
    prove.strangeItem('body', [9, 2 * Math.floor(count / 4) - 1, 1]),
  ],
  [
    'the deepest of a datum',
    worst([fee], { fields: [[4, openList(nested(count))]] }),
    prove.strangeItem('witness set', [4, 0, ...steps(count)]),
  ],
  [
    'the deepest of an inline datum',
    withDatum(nested(embeddedItems)),
    prove.strangeItem('body', [1, 0, 2, 1, 0, 0, ...steps(embeddedItems)]),
  ],
  [
    'the last of an inline datum',
    withDatum(flat(strange)),
    prove.strangeItem('body', [1, 0, 2, 1, 0, 0, embeddedItems - 2]),
  ],
  [
    'an inline datum that is cut',
    withDatum(flat(uint(1)).subarray(0, -1)),
    prove.strangeItem('body', [1, 0, 2, 1, 0]),
  ],
]

export const itemCases = cases.map(([what, transaction, proof]) => ({
  what: `\`strangeItem\`, ${what}`,
  transaction,
  proof,
}))
