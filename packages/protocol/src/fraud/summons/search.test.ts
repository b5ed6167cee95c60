import { headerFieldIndex } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { NodeOpening } from '@ratatosk/contracts'
import { blake2b256 } from '@ratatosk/ledger'
import { constr, decodeAnyData, encodePlutusData, PlutusDataError } from '@ratatosk/ledger/plutus-data'
import { type MapLeaf, nibbleAt, nibblesOf } from '@ratatosk/trie'
import { describe, expect, it } from 'vitest'
import { deepened, type FreeNode, freeMap, leafAt, nodeOf, pathFrom } from '../test/free-map.js'
import { answerAboutNode } from './answer.js'
import { type NodeAnswer, nodeAnswerFromData } from './redeemers.js'
import { type NextQuestion, nextQuestions } from './search.js'

/*
 * Keys that users have ground: ways of any depth, with any number of entries below.
 */

let drawn = 0
const draw = (bound: number): number =>
  new DataView(blake2b256(Uint8Array.of(++drawn & 255, drawn >> 8)).buffer).getUint32(0) % bound
const anyPath = (): Uint8Array => blake2b256(Uint8Array.of(draw(256), draw(256), draw(256), draw(256)))

/** So many leaves, each beside the way of another at any of its first `depth` nibbles. */
function groundLeaves(count: number, depth: number): MapLeaf[] {
  const leaves = [leafAt(anyPath())]
  while (leaves.length < count) {
    const { path } = leaves[draw(leaves.length)]!
    const shared = draw(depth)
    const beside = (nibbleAt(path, shared) + 1 + draw(15)) % 16
    leaves.push(leafAt(pathFrom([...nibblesOf(path, 0, shared), beside], anyPath())))
  }
  return leaves
}

/** Leaves that share so many nibbles. */
const sharedLeaves = (count: number, depth: number): MapLeaf[] => {
  const shared = nibblesOf(anyPath(), 0, depth)
  return Array.from({ length: count }, () => leafAt(pathFrom([...shared], anyPath())))
}

/** A leaf beside the way of another. */
const strayBeside = ({ path }: MapLeaf, shared: number): MapLeaf =>
  leafAt(pathFrom([...nibblesOf(path, 0, shared), nibbleAt(path, shared) ^ 5], anyPath()))

type Lie = (leaves: readonly MapLeaf[]) => FreeNode | undefined

const lies: { readonly [what: string]: Lie } = {
  'a value is another': (leaves) => {
    const at = draw(leaves.length)
    return nodeOf(leaves.with(at, leafAt(leaves[at]!.path, 2)))
  },
  'an entry is missing': (leaves) => nodeOf(leaves.toSpliced(draw(leaves.length), 1)),
  'an entry is added': (leaves) => nodeOf([...leaves, strayBeside(leaves[draw(leaves.length)]!, draw(60))]),
  'branches that no one can show are beside the way to an entry': (leaves) => {
    const { path } = leaves[draw(leaves.length)]!
    return deepened(nodeOf(leaves), (each) => equalBytes(each, path), 62)
  },
  'a branch that no one can show is beside an entry': (leaves) => {
    const stray = strayBeside(leaves[draw(leaves.length)]!, 50)
    return deepened(nodeOf([...leaves, stray]), (each) => equalBytes(each, stray.path), 62)
  },
}

/** Rounds of questions until a difference or silence. */
function roundsOf(truth: readonly MapLeaf[], posted: FreeNode | undefined): number {
  const [right, wrong] = [freeMap(nodeOf(truth)), freeMap(posted)]
  const known = new Map<string, NodeAnswer>()
  const nameOf = ({ kind, key, hash }: NextQuestion) => [kind, toHex(key), toHex(hash)].join()
  const about = { headerHash: right.root, root: 1, deadline: 0n, refund: right.root }
  for (let rounds = 0; rounds < 40; rounds++) {
    const { differences, questions } = nextQuestions(right, wrong.root, (each) => known.get(nameOf(each)))
    const [difference] = differences
    if (difference !== undefined) {
      const { hash } = wrong.openPath(difference.path)
      expect(hash ?? 'absent').toEqual(difference.posted.hash ?? 'absent')
      expect(hash).not.toEqual(right.openPath(difference.path).hash)
      return rounds
    }
    expect(questions.length).toBeGreaterThan(0)
    for (const question of questions.slice(0, 40)) {
      const answer = answered(() => answerAboutNode({ ...about, ...question }, { trie: wrong }))
      if (answer === undefined) return rounds + 1
      known.set(nameOf(question), answer)
    }
  }
  throw new Error('It has no end')
}

function answered(answer: () => NodeAnswer | undefined): NodeAnswer | undefined {
  try {
    return answer()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

describe.each(Object.entries(lies))('a search where %s', (_what, tell) => {
  it.each([
    [1, 1],
    [2, 40],
    [33, 40],
    [1200, 20],
  ])('ends by the number of entries: %d on ways of up to %d branches', (count, depth) => {
    const most = Math.ceil(Math.log(count) / Math.log(32)) + 2
    for (const leaves of [groundLeaves(count, depth), sharedLeaves(count, depth)])
      expect(roundsOf(leaves, tell(leaves))).toBeLessThanOrEqual(most)
  })
})

it.each([
  ['key', 0],
  ['value', 1],
])('reads no leaf whose %s is not bytes', (_what, place) => {
  const { transactionsRoot, utxosRoot } = headerFieldIndex
  for (const root of [transactionsRoot, utxosRoot]) {
    const asked = { path: new Uint8Array(32), depth: 0, root }
    const fields = [new Uint8Array(32), new Uint8Array(32), []]
    expect(
      nodeAnswerFromData(decodeAnyData(encodePlutusData(constr(NodeOpening.leaf, ...fields))), asked),
    ).toMatchObject({ node: { kind: 'leaf' } })
    for (const other of [0n, [], constr(0)]) {
      const data = decodeAnyData(
        encodePlutusData(constr(NodeOpening.leaf, ...fields.with(place, other as never))),
      )
      expect(() => nodeAnswerFromData(data, asked)).toThrow(PlutusDataError)
    }
  }
})
