import { hashLength, headerHash } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { decodeQuestion, encodeQuestion, type SummonsQuestion } from '@ratatosk/contracts'
import { blake2b256, type Utxo } from '@ratatosk/ledger'
import { constr, decodeAnyData, decodePlutusData, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { readQuestions, surveyQuestions, unreadLine } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { encodedAnyhow } from '../../../contracts/dist/test/any-encoding.js'
import { engines } from '../../../contracts/dist/test/evaluate.js'
import { drawing } from '../../../contracts/dist/test/fraud/draw.js'
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
import { summonsContracts as contracts } from '../../../protocol/dist/test/protocol-scene.js'

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
