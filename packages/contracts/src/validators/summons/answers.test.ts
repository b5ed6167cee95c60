import { equalBytes, toHex } from '@ratatosk/cbor'
import { type DataValue, decodeAnyData, encodeAnyData } from '@ratatosk/ledger/plutus-data'
import {
  answerIn,
  type ChunkAnswer,
  chunkAnswerFromData,
  encodeChunkAnswer,
  encodeNodeAnswer,
  type NodeAnswer,
  nodeAnswerFromData,
  nodeOfKey,
  type ShownChunkAnswer,
} from '@ratatosk/protocol/fraud'
import { afterAll, describe, expect, it } from 'vitest'
import { engines } from '../../test/evaluate.js'
import { type Draw, drawing, encodedAnyhow } from '../../test/fraud/draw.js'
import { type Holder, mutatedAnswer, strangeData, translatedAnswers } from '../../test/summons/odd-answers.js'
import {
  type Asked,
  absentQuestion,
  answerBy,
  asking,
  chunkKey,
  chunkQuestion,
  entryQuestion,
  leafQuestion,
  nextAt,
  outputs,
  recordEntryQuestion,
  recordQuestion,
  recordsQuestion,
  redeemerFrom,
  shownChunk,
  somePath,
  subtreeQuestion,
  topQuestion,
  transactions,
} from '../../test/summons/scenarios.js'
import { changeOutput, createWorld, summonsTerms } from '../../test/world.js'

/*
 * The watcher has to read each answer that the summons takes, and as the summons does: otherwise an operator
 * hides what is false behind one.
 */

const mutations = Number(process.env.RATATOSK_ANSWERS ?? 120)
/** The machine judges one of so many that the translated script takes, in a random encoding. */
const judged = 20
const world = createWorld()
const takes = translatedAnswers(world)

const [chunk] = shownChunk.parts
const holders: readonly Holder[] = [
  { kind: 'inline', bytes: chunk!.subarray(32, 4128) },
  { kind: 'hash', hash: chunk!.subarray(0, 32) },
]
const datumAt = (index: number) => {
  const holder = holders[index]
  return holder?.kind === 'hash' ? holder.hash : holder?.bytes
}
const inParts: ChunkAnswer = { ...shownChunk, parts: [1, 0, chunk!.subarray(4128)] }
const ofOutputs = outputs.openPath(somePath).proof

const lone = asking(nextAt(outputs, 'subtree', somePath, ofOutputs.length), 1)
/** Answers of who has the block. */
const answers: readonly (readonly [string, Asked, Uint8Array])[] = [
  ['a subtree', subtreeQuestion, redeemerFrom(outputs, subtreeQuestion)],
  ['the top', topQuestion, redeemerFrom(outputs, topQuestion)],
  ['another leaf', leafQuestion, redeemerFrom(outputs, leafQuestion)],
  ['the only leaf', lone, redeemerFrom(outputs, lone)],
  ['records', recordsQuestion, redeemerFrom(transactions, recordsQuestion)],
  ['a record', recordQuestion, redeemerFrom(transactions, recordQuestion)],
  ['an entry', entryQuestion, redeemerFrom(outputs, entryQuestion)],
  ['no entry', absentQuestion, redeemerFrom(outputs, absentQuestion)],
  ['an entry of records', recordEntryQuestion, redeemerFrom(transactions, recordEntryQuestion)],
  ['a chunk', chunkQuestion(0), encodeChunkAnswer(0, shownChunk)],
  ['a chunk in parts', chunkQuestion(0), encodeChunkAnswer(0, inParts)],
  ['no chunk', chunkQuestion(1), encodeChunkAnswer(0, { absent: transactions.proveAbsence(chunkKey(1)) })],
].map(([what, asked, redeemer]) => [what, asked, redeemer] as [string, Asked, Uint8Array])

function read({ question }: Asked, redeemer: Uint8Array): NodeAnswer | ShownChunkAnswer {
  const answer = answerIn(redeemer)!
  if (question.kind === 'chunk') return chunkAnswerFromData(answer, datumAt)
  return nodeAnswerFromData(answer, { ...nodeOfKey(question.key), root: question.root })
}

/** An answer that was read, written as an honest operator writes it. */
function written({ question }: Asked, answer: NodeAnswer | ShownChunkAnswer): Uint8Array {
  if (!('kind' in answer)) return encodeNodeAnswer(0, question.key, answer)
  if (answer.kind === 'absent') return encodeChunkAnswer(0, { absent: answer.proof })
  if (answer.kind !== 'shown') throw new Error('It was not read')
  const { record: entry, proof, bytes } = answer
  return encodeChunkAnswer(0, { entry, proof, parts: [bytes] })
}

const tally = { tried: 0, taken: 0, other: 0, byMachine: 0 }
afterAll(() => console.log('answers', tally))

/** Expects that an answer is read, if the script takes it, and as the same. */
function expectRead(asked: Asked, redeemer: DataValue, draw: Draw): void {
  tally.tried++
  if (!takes(asked, redeemer, holders)) return
  tally.taken++
  const plain = encodeAnyData(redeemer)
  // A transaction without reference inputs.
  if (tally.taken % judged === 0 && takes(asked, redeemer)) {
    tally.byMachine++
    const encoded = encodedAnyhow(redeemer, draw, true)
    // Its reward goes by the length of the canonical encoding.
    const answer = changeOutput(answerBy(world, asked, encoded), 0, { lovelace: summonsTerms.bond })
    expect(engines.cek(answer), toHex(encoded)).toMatchObject({ ok: true })
  }
  const found = read(asked, plain)
  expect(read(asked, encodedAnyhow(redeemer, draw))).toEqual(found)
  const canonical = written(asked, found)
  if (!equalBytes(canonical, plain)) tally.other++
  expect(takes(asked, decodeAnyData(canonical), holders), toHex(plain)).toBe(true)
  expect(read(asked, canonical)).toEqual(found)
}

describe.each(answers)('an answer about %s', (_what, asked, honest) => {
  const redeemer = decodeAnyData(honest)

  it('is read', () => {
    expect(takes(asked, redeemer, holders)).toBe(true)
    expectRead(asked, redeemer, drawing(1))
  })

  it(`is read after each of ${mutations} changes that the summons takes`, { timeout: 3_600_000 }, () => {
    const draw = drawing(asked.question.root + honest.length)
    const before = tally.other
    for (let i = 0; i < mutations; i++) expectRead(asked, mutatedAnswer(redeemer, draw), draw)
    expect(tally.other).toBeGreaterThan(before)
  })

  it('is read with anything behind it, at any depth', () => {
    const draw = drawing(3)
    const { fields } = redeemer as Extract<DataValue, { kind: 'constructor' }>
    let deep: DataValue = { kind: 'map', entries: null }
    for (let level = 0; level < 16_000; level++)
      deep = { kind: 'list', items: { head: deep, tail: null, length: 1 } }
    const found = read(asked, honest)
    for (const behind of [deep, ...Array.from({ length: 20 }, () => strangeData(draw))]) {
      const tail = { head: fields!.tail!.head, tail: { head: behind, tail: null, length: 1 }, length: 2 }
      const more: DataValue = {
        kind: 'constructor',
        index: 1n,
        fields: { head: fields!.head, tail, length: 3 },
      }
      expect(read(asked, encodeAnyData(more))).toEqual(found)
    }
  })
})

it('any other action ends a question without an answer', () => {
  for (const index of [0n, 2n, 3n, 200n])
    expect(answerIn(encodeAnyData({ kind: 'constructor', index, fields: null }))).toBeUndefined()
})
