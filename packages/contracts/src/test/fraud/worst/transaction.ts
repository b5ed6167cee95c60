import { concatBytes } from '@ratatosk/cbor'
import { encodeOutputReference, type OutputReference, profileLimits } from '@ratatosk/ledger'
import { encodeTransactionFraudProof } from '@ratatosk/protocol/fraud'
import { transactionFraudScript } from '../../../fraud-scripts.js'
import type { ProvenLie } from '../minting.js'
import { type Prove, prove, excessive as tooMany } from '../transaction/statements.js'
import {
  assets,
  encoded,
  keyAddress,
  list,
  map,
  openList,
  openMap,
  policy,
  references,
  rules,
  string,
  type Tokens,
  tagged,
  text,
  uint,
} from '../transaction/transactions.js'
import {
  amongMany,
  type Coins,
  coins,
  keyFiller,
  keyWitnesses,
  numbered,
  redeemers,
  type Ways,
  type Worst,
  worst,
} from './largest.js'

/*
 * The costliest proof of each fraud of the transaction policy, about the largest transactions.
 */

interface Case {
  readonly what: string
  readonly transaction: Worst
  /** The outputs unspent before. */
  readonly spends?: Coins
  readonly proof: Prove
}

const address = keyAddress(7)
/** An output of ada whose value is behind a datum hash: it is searched for. */
const slow = (lovelace: bigint, header = 0x60) =>
  openMap(
    [uint(2), list(uint(0), string(new Uint8Array(32)))],
    [uint(0), string(keyAddress(7, header))],
    [uint(1), uint(lovelace)],
  )
const short = (lovelace: bigint) => list(string(address), uint(lovelace))
const holding = (tokens: Tokens) => list(string(address), list(uint(2n ** 33n), assets(tokens)))
const lovelace = 2n ** 33n

/** Tokens of so many policies with so many names, none of which is the one that is asked for. */
const tokensOf = (policies: number, names: number): Tokens =>
  Array.from({ length: policies * names }, (_, i) => {
    const [id, name] = [Math.floor(i / names), i % names]
    return [policies === 1 ? policy(9) : numbered(28, id), numbered(24, name), 2n ** 40n] as const
  })

const repeat = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item)
const { inputs: maxInputs, outputs: maxOutputs, resolvedItems } = profileLimits

let used = 0
function coinsOf(outputs: readonly Uint8Array[]): Coins {
  const references = coins(used, outputs.length)
  used += outputs.length
  return references.map((reference, i) => [reference, outputs[i]!] as const)
}
const spending = (spent: Coins) => [0, references(spent.map(([reference]) => reference))] as const
const paying = (outputs: readonly Uint8Array[]) => [1, openList(...outputs)] as const
const fee = (lovelace: number | bigint = 200_000) => [2, uint(lovelace)] as const
const pay = () => paying([short(lovelace)])

const asked = { policy: policy(9), name: new Uint8Array(24).fill(0xfe) }
function value(
  what: string,
  held: readonly Uint8Array[],
  paid: readonly Uint8Array[],
  asset = {},
  fill = true,
): Case {
  const spends = coinsOf(held)
  return {
    what: `\`valueNotPreserved\`, ${what}`,
    spends,
    transaction: worst([fee(), paying(paid), spending(spends)], undefined, fill),
    proof: prove.value(asset),
  }
}
/** Of the asset that is asked for, the first of the outputs has some, as its last. */
const tokens = (what: string, count: number, policies: number, names: number, paid: number): Case => {
  const others = tokensOf(policies, names)
  const own = [asked.policy, asked.name, 5n] as const
  const held = repeat(count, holding(others))
  const share = Math.floor((policies * names * paid) / 100)
  const outputs = policies > 1 ? tokensOf(share, 1) : tokensOf(1, share)
  const split = count > 5 ? repeat(Math.min(share, 20), holding(tokensOf(1, 1))) : [holding(outputs)]
  return value(what, held, [holding([own]), ...split], asked)
}

const plainly = (
  what: string,
  fields: Parameters<typeof worst>[0],
  proof: Prove,
  rest: Partial<Case> = {},
): Case => ({
  what,
  transaction: worst(fields),
  proof,
  ...rest,
})

const allInputs = () => coinsOf(repeat(maxInputs, short(lovelace)))
const onInputs = (
  what: string,
  proof: Prove,
  change: (all: OutputReference[]) => OutputReference[] = (all) => all,
): Case => {
  const spends = allInputs()
  const all = change(spends.map(([reference]) => reference))
  const cbor = concatBytes(Uint8Array.of(0xd9, 1, 2), openList(...all.map(encodeOutputReference)))
  return { what, spends, transaction: worst([fee(), pay(), [0, cbor]]), proof }
}

/** Heads with an argument cost most to check; as many strings as there is room for. */
const tooLong = (key: number, count: number) =>
  openMap([
    uint(key),
    openList(...Array.from({ length: count }, (_, i) => (i % 2 ? uint(300) : string(numbered(24, i))))),
  ])

function resolved(what: string, outputs: readonly Uint8Array[]): Case {
  const spends = coinsOf(outputs)
  const transaction = worst([fee(), pay(), spending(spends)], undefined, false)
  return { what: `\`unreadablePart\`, ${what}`, spends, transaction, proof: prove.resolved }
}

const manyNames = 280
const namesThen = (last: Uint8Array) =>
  map([
    string(policy(9)),
    map(...Array.from({ length: manyNames }, (_, i) => [string(numbered(24, i)), uint(1)] as const), [
      last,
      uint(1),
    ]),
  ])

function lowFee(): Case {
  const spends = coinsOf(repeat(27, slow(lovelace)))
  return {
    what: '`feeTooSmall`, the most redeemers',
    spends,
    transaction: worst([pay(), spending(spends), fee(1)], {
      fields: [[5, redeemers(profileLimits.redeemers)]],
      filler: keyFiller,
    }),
    proof: prove.fee(undefined, 27),
  }
}

const withdrawals = (count: number) =>
  openMap(
    ...Array.from(
      { length: count },
      (_, i) => [string(Uint8Array.of(0xf0, ...numbered(28, i))), uint(i === count - 1 ? 1 : 0)] as const,
    ),
  )

const last = maxInputs - 1

const cases = (): readonly Case[] => [
  value('the most outputs', repeat(27, slow(lovelace)), repeat(maxOutputs - 4, short(lovelace * 2n))),
  value('the longest outputs', repeat(27, slow(lovelace)), repeat(16, slow(lovelace * 2n)), {}, false),
  tokens('a token in each output', 25, 1, 1, 1000),
  tokens('a token behind many policies', 1, 56, 1, 85),
  tokens('a token behind many names', 1, 1, 115, 90),
  lowFee(),
  plainly(
    '`outputTooSmall`, the last',
    [fee(), paying([...repeat(maxOutputs - 1, short(lovelace)), short(1n)])],
    prove.output('outputTooSmall', maxOutputs - 1),
  ),
  plainly(
    '`outputOnOtherNetwork`, the last',
    [fee(), paying([...repeat(20, slow(lovelace)), slow(lovelace, 0x61)])],
    prove.output('outputOnOtherNetwork', 20),
  ),
  plainly('`outsideInterval`', [fee(), pay(), [8, uint(0)], [3, uint(1)]], prove.plain('outsideInterval')),
  plainly('`forbiddenField`', [fee(), pay(), [22, uint(1)]], prove.field(22)),
  plainly('`wrongNetwork`', [fee(), pay(), [15, uint(1)]], prove.plain('wrongNetwork')),
  plainly(
    '`forbiddenWithdrawal`, the last',
    [fee(), pay(), [5, withdrawals(110)]],
    prove.plain('forbiddenWithdrawal'),
  ),
  plainly('`noInputs`', [fee(), pay(), [0, openList()]], prove.plain('noInputs')),
  (() => {
    const spends = coinsOf(repeat(maxInputs - 2, short(lovelace)))
    const transaction = worst([fee(), pay(), spending(spends), [18, references([spends.at(-1)![0]])]])
    return { what: '`inputIsReferenceInput`', spends, transaction, proof: prove.both(maxInputs - 3, 0) }
  })(),
  {
    what: '`unreadablePart`, one item too many in a body',
    transaction: { ...worst([]), ...withBody(tooLong(14, profileLimits.bodyItems - 4)) },
    proof: prove.body,
  },
  {
    what: '`unreadablePart`, one byte too many in a body',
    transaction: {
      ...worst([]),
      ...withBody(map([uint(14), string(new Uint8Array(profileLimits.bodyBytes))])),
    },
    proof: prove.body,
  },
  {
    what: '`unreadablePart`, one item too many in a witness set',
    transaction: worst([fee()], tooLong(4, profileLimits.witnessSetItems - 4)),
    proof: prove.witnesses,
  },
  resolved(
    'one item too many in outputs',
    repeat(maxInputs, holding(tokensOf(1, Math.ceil((resolvedItems / maxInputs - 5) / 2)))),
  ),
  resolved('too many bytes in outputs', repeat(5, openMap([uint(0), string(new Uint8Array(14_000))]))),
  onInputs('`unreadableReference`, the last', prove.reference('inputs', last), (all) => [
    ...all.slice(0, last),
    { ...all[last]!, index: 70_000 },
  ]),
  {
    what: '`malformedPart`, the longest body',
    transaction: withBody(concatBytes(worst([fee()]).body.subarray(0, -1), Uint8Array.of(0xfc))),
    proof: prove.malformed('body'),
  },
  {
    what: '`strangeField`, the last name of a mint',
    transaction: worst([fee(), [9, namesThen(uint(1))]], undefined, false),
    proof: prove.strangeField('body', 9, { policy: 0, name: manyNames }),
  },
  {
    what: '`strangeOutput`, the last name of a value',
    transaction: worst(
      [fee(), paying([list(string(address), list(uint(lovelace), namesThen(uint(1))))])],
      undefined,
      false,
    ),
    proof: prove.strangeOutput(0, { policy: 0, name: manyNames }),
  },
  {
    what: '`strangeWitness`, the last',
    transaction: worst([fee()], {
      fields: [
        [
          0,
          openList(
            ...repeat(
              profileLimits.keyWitnesses - 1,
              list(string(numbered(32, 1)), string(new Uint8Array(64))),
            ),
            list(uint(1)),
          ),
        ],
      ],
      filler: keyFiller,
    }),
    proof: prove.strangeWitness(false, profileLimits.keyWitnesses - 1),
  },
  onInputs('`repeatedReference`, the last', prove.repeated('inputs', last - 1, last), (all) => [
    ...all.slice(0, last),
    all[last - 1]!,
  ]),
  onInputs('`tooMany`, one input too many', tooMany('body'), (all) => [...all, coins(1_000_000, 1)[0]!]),
  plainly(
    '`tooMany`, one output too many',
    [fee(), paying(repeat(maxOutputs + 1, short(lovelace)))],
    tooMany('body'),
  ),
  {
    what: '`tooMany`, one key witness too many',
    transaction: worst([fee()], {
      fields: [[0, keyWitnesses(profileLimits.keyWitnesses + 1)]],
      filler: keyFiller,
    }),
    proof: tooMany('witness set'),
  },
  ...itemCases,
]

function withBody(body: Uint8Array): Worst {
  return worst([], undefined, false, body)
}

/** The costliest proof of each fraud, and of some the costliest for several reasons. */
export function worstTransactionProofs(ways: Ways = 'many'): ProvenLie[] {
  const all = cases()
  const block = amongMany(
    ways,
    all.map(({ transaction }) => transaction.cbor),
    all.flatMap(({ spends = [] }) => [...spends]),
  )
  const { header } = block
  const script = transactionFraudScript(rules)
  return all.map(({ what, proof }, position) => ({
    what,
    header,
    script,
    redeemer: encodeTransactionFraudProof(header, proof(block, position)),
  }))
}

/*
 * The costliest proofs of `strangeItem`: in the longest lists, and in the deepest data. In strings, layer 2
 * bounds no items; what is measured is the most that documents promise.
 */

/** Items of a string that a proof can read. */
const embeddedItems = 200
const others = 12
const count = profileLimits.bodyItems - others

const anyAddress = string(keyAddress(7))
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
    [uint(0), anyAddress],
    [uint(1), uint(5_000_000)],
  )
  return worst([fee(), [1, openList(output)]])
}
const flat = (...last: readonly Uint8Array[]) =>
  openList(...Array.from({ length: embeddedItems - 2 }, () => uint(1)), ...last)

const strangeItems: readonly (readonly [what: string, transaction: Worst, proof: Prove])[] = [
  [
    'the last of a list',
    worst([fee(), [14, openList(...signers.slice(1), string(policy(1).subarray(1)))]], undefined, false),
    prove.strangeItem('body', [14, count - 1]),
  ],
  [
    'two equal ones at the end of a list',
    worst([fee(), [14, openList(...signers, ...signers.slice(-1))]], undefined, false),
    prove.strangeItem('body', [14], [count - 1, count]),
  ],
  [
    'a list that is too long',
    worst([fee(), [1, openList(openList(anyAddress, uint(1), ...signers.slice(8)))]], undefined, false),
    prove.strangeItem('body', [1, 0]),
  ],
  [
    'the last quantity of a mint',
    worst(
      [
        fee(),
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
    worst([fee()], { fields: [[4, openList(nested(count))]] }),
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

const itemCases = strangeItems.map(([what, transaction, proof]) => ({
  what: `\`strangeItem\`, ${what}`,
  transaction,
  proof,
}))
