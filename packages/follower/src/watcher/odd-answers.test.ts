import { hashLength, headerHash } from '@ratatosk/block'
import { equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { decodeQuestion, encodeQuestion, type SummonsQuestion } from '@ratatosk/contracts'
import { blake2b256, type Utxo } from '@ratatosk/ledger'
import {
  constr,
  decodeAnyData,
  decodePlutusData,
  encodePlutusData,
  type PlutusConstr,
  type PlutusData,
} from '@ratatosk/ledger/plutus-data'
import { readQuestions, surveyQuestions, unreadLine } from '@ratatosk/protocol'
import type { Trie } from '@ratatosk/trie'
import { expect, test } from 'vitest'
import { engines } from '../../../contracts/dist/test/evaluate.js'
import { drawing, encodedAnyhow } from '../../../contracts/dist/test/fraud/draw.js'
import {
  type Asked,
  ask,
  chunkQuestion,
  datumOf,
  entryQuestion,
  header,
  leafQuestion,
  subtreeQuestion,
} from '../../../contracts/dist/test/summons/scenarios.js'
import { createWorld } from '../../../contracts/dist/test/world.js'
import { freeMap, leafAt, leavesOf, nodeOf } from '../../../protocol/dist/fraud/test/free-map.js'
import { blockOf } from '../../../protocol/dist/fraud/test/lying-blocks.js'
import { summonsContracts as contracts } from '../../../protocol/dist/test/protocol-scene.js'
import { honest } from './test/lies.js'
import { openOperator, openWatched, openWatcher, until, type Watched } from './test/scene.js'

/* Answers in forms that the summons takes and that no honest operator sends hide no lie. */

const timeout = 120_000
const draw = drawing(48)
const constrIn = (data: PlutusData | undefined) => data as PlutusConstr

/** The redeemer with another answer in the place of its second field. */
function changed(redeemer: Uint8Array, change: (answer: PlutusConstr) => PlutusData): Uint8Array {
  const { index, fields } = constrIn(decodePlutusData(redeemer))
  return encodePlutusData(constr(index, fields[0]!, change(constrIn(fields[1]))))
}

/** The redeemer with other openings of a branch's children, if it answers with a branch. */
const withOpenings = (redeemer: Uint8Array, change: (opening: PlutusConstr) => PlutusData): Uint8Array =>
  changed(redeemer, ({ index, fields }) => {
    if (index !== 0) return constr(index, ...fields)
    const [prefix, children, openings] = fields as [Uint8Array, Uint8Array, readonly PlutusConstr[]]
    return constr(0, prefix, children, openings.map(change))
  })

const forms: { readonly [what: string]: (redeemer: Uint8Array) => Uint8Array } = {
  'a number where a branch has no child': (redeemer) =>
    withOpenings(redeemer, (opening) => (opening.index === 2 ? 0n : opening)),
  'leaves of another constructor': (redeemer) =>
    withOpenings(redeemer, (opening) => (opening.index === 1 ? constr(9, ...opening.fields) : opening)),
  'a map behind the fields': (redeemer) => Uint8Array.from([...redeemer.subarray(0, -1), 0xa0, 0xff]),
  'lists in lists behind the fields': (redeemer) =>
    Uint8Array.from([...redeemer.subarray(0, -1), ...new Array<number>(900).fill(0x81), 0x00, 0xff]),
  'another encoding': (redeemer) => encodedAnyhow(decodeAnyData(redeemer), draw),
}

async function isRemoved({ store }: Watched): Promise<boolean> {
  const [verdict] = (await store.verdicts.list({ limit: 1 })).verdicts
  expect(verdict?.state).not.toBe('unprovable')
  return verdict?.state === 'removed'
}

test.each(Object.entries(forms))('a false root, answered with %s', { timeout }, async (_what, form) => {
  const watched = await openWatched({ contracts })
  const { outputs, ...committed } = honest(watched.story)
  const made = [...outputs.after].find(([key]) => !outputs.before.has(key))!
  const path = blake2b256(fromHex(made[0]))
  const others = Array.from({ length: 3 }, (_, i) => leafAt(blake2b256(Uint8Array.of(i))))
  const ground = [...leavesOf(outputs.after), ...others]
  const truth = freeMap(nodeOf(ground))
  const posted = freeMap(nodeOf(ground.map((leaf) => (equalBytes(leaf.path, path) ? leafAt(path, 9) : leaf))))
  const roots = { ...committed.roots, utxosRoot: posted.root }
  const lie = { ...committed, outputs, after: posted as Trie, roots }
  const block = { ...(await watched.commit(lie)), afterTransactions: truth }
  const { answered } = await openOperator(watched, lie, { form })
  const { errors } = openWatcher(watched, [block])
  await until('it is removed', () => isRemoved(watched))
  expect(answered.length).toBeGreaterThan(0)
  expect(errors).toEqual([])
})

/** The parts of a shown chunk. */
const partsForms: { readonly [what: string]: Partial<Parameters<typeof openOperator>[2]> } = {
  'by datums of a constructor that no one writes': {
    form: (redeemer) =>
      changed(redeemer, ({ index, fields }) => {
        const [entry, proof, parts] = fields as [Uint8Array, PlutusData, readonly PlutusConstr[]]
        if (index !== 0) return constr(index, ...fields)
        return constr(
          0,
          entry,
          proof,
          parts.map((part) => (part.index === 1 ? constr(5, ...part.fields) : part)),
        )
      }),
  },
  'by the hash of a datum that no one knows': { hidesInHashes: true },
  'with a map behind them': { form: forms['a map behind the fields']! },
}

test.each(Object.entries(partsForms))('a withheld body, shown %s', { timeout }, async (_what, options) => {
  const watched = await openWatched({ contracts })
  const { transactions, large, conjured } = watched.story
  const committed = blockOf([...transactions, large, conjured])
  const block = await watched.commit(committed)
  const { answered } = await openOperator(watched, committed, options)
  const { errors } = openWatcher(watched, [block], {
    withheld: { judge: async () => false },
    patienceMs: 20_000,
  })
  await until('it is removed', () => isRemoved(watched))
  expect(answered.length).toBeGreaterThan(0)
  expect(errors).toEqual([])
})

const encodings = Number(process.env.RATATOSK_ENCODINGS ?? 1000)
/** The script judges one encoding by so many. */
const judged = 60
const world = createWorld()
const { policy, address } = contracts.summons!

/** An output at the address of the summons. @param name hex of the token */
const outputWith = (data: Uint8Array, name: string, index = 0): Utxo =>
  ({
    reference: { transactionId: new Uint8Array(32), index },
    output: {
      address: { bytes: address },
      value: { lovelace: 3_000_000n, assets: new Map([[policy, new Map([[name, 1n]])]]) },
      datum: { kind: 'inline', data },
    },
  }) as unknown as Utxo

const nameOf = (canonical: Uint8Array): string => toHex(blake2b256(canonical))

/** Whether the summons lets a question be asked by a datum. */
function isTaken(asked: Asked, data: Uint8Array): boolean {
  const transaction = ask(world, asked)
  const [question, ...others] = transaction.outputs
  return engines.cek({ ...transaction, outputs: [{ ...question!, datum: data }, ...others] }).ok
}

/** Headers that no queue takes can be asked about too. */
function aboutOtherHeader(length: number): Asked {
  const about = { ...header, transactionsRoot: new Uint8Array(length).fill(9) }
  return chunkQuestion(3, about)
}

const asked = [
  chunkQuestion(0),
  subtreeQuestion,
  leafQuestion,
  entryQuestion,
  ...[0, 5, 33, 200].map(aboutOtherHeader),
]

test(`a question is read in any of ${encodings} encodings that the summons takes`, async () => {
  const draw = drawing(48)
  for (let i = 0; i < encodings; i++) {
    const each = asked[draw(asked.length)]!
    const canonical = datumOf(each)
    const isJudged = i % judged === 0
    const data = encodedAnyhow(decodeAnyData(canonical), draw, isJudged)
    if (isJudged) expect(isTaken(each, data), toHex(data)).toBe(true)
    const name = nameOf(canonical)
    const utxo = outputWith(data, name)
    expect(readQuestions(contracts, [utxo]), toHex(data)).toEqual([{ utxo, name, question: each.question }])
    expect((await surveyQuestions(contracts, [utxo])).unread).toEqual([])
  }
})

test('what holds the token of a question and is not read as one is reported', async () => {
  const canonical = datumOf(subtreeQuestion)
  const name = nameOf(canonical)
  const { fields } = decodePlutusData(canonical) as { readonly fields: readonly Uint8Array[] }
  const others = [
    constr(3, ...fields),
    constr(1, ...fields, 0n),
    constr(1, ...fields.slice(1)),
    // Another question than the token's.
    constr(2, ...fields),
    0n,
  ].map((data, index) => outputWith(encodePlutusData(data), name, index))
  const [read, verdict] = [
    outputWith(canonical, name),
    outputWith(canonical, toHex(headerHash(header)).padEnd(2 * hashLength)),
  ]
  expect((await surveyQuestions(contracts, [read, ...others, verdict])).unread).toEqual(others)
  expect(readQuestions(contracts, [...others, verdict])).toEqual([])
  expect(unreadLine(others)).toMatch(/does not read.* 5; the first is 0{64}#0\./)
  expect(unreadLine([])).toBeUndefined()
})

test('a question about a header that no queue takes is itself in the common encoding', () => {
  for (const each of asked) {
    const question: SummonsQuestion = decodeQuestion(datumOf(each))
    expect(encodeQuestion(question)).toEqual(datumOf(each))
    expect(isTaken(each, datumOf(each))).toBe(true)
  }
})
