import { headerHash } from '@ratatosk/block'
import { blake2b256 } from '@ratatosk/ledger'
import { encodeChunkAnswer, encodeExpiry } from '@ratatosk/protocol/fraud'
import { nibblesOf } from '@ratatosk/trie'
import { freeMap, leafAt, nodeOf, pathFrom } from '../../../../protocol/dist/fraud/test/free-map.js'
import { removeByProof } from '../queue/removals.js'
import { firstHeader } from '../queue/scenarios.js'
import type { TestTransaction } from '../transaction.js'
import { ada, createWorld, type World, wallet } from '../world.js'
import {
  type Asked,
  answerBy,
  answerFrom,
  ask,
  askForChunks,
  asking,
  chunkKey,
  chunkQuestion,
  chunkQuestions,
  datumOf,
  expire,
  header,
  nameOf,
  nextAt,
  questionOutput,
  reclaim,
  reclaimByVerdict,
  refundOutput,
  shownChunk,
  subtreeQuestion,
  tokenOf,
  verdictOf,
  verdictOutput,
} from './scenarios.js'

/** The contracts with the summons as the only verdict policy. */
const world = createWorld({ verdictPolicies: [createWorld().summons.policy] })

/** A question about the queue's first block. */
const asked: Asked = {
  ...subtreeQuestion,
  question: { ...subtreeQuestion.question, headerHash: headerHash(firstHeader) },
}

/** Ends a question, removes the block by the verdict and slashes its operator in one transaction. */
export function removeByExpiry(): TestTransaction {
  const redeemer = encodeExpiry(2)
  const removal = removeByProof(world, { header: firstHeader, policy: world.summons, redeemer })
  const [element, registry] = removal.outputs
  const verdict = verdictOutput(world, verdictOf(world, asked))
  const question = questionOutput(world, datumOf(asked))
  return {
    ...removal,
    inputs: [...removal.inputs, { id: 4, output: question, redeemer }],
    outputs: [
      element!,
      registry!,
      refundOutput(datumOf(asked), question.lovelace),
      verdict,
      wallet(ada(500)),
    ],
    mint: [...removal.mint, tokenOf(world, nameOf(datumOf(asked)), -1n)],
    validFrom: 80n,
  }
}

const depth = 12
const shared = new Array<number>(depth).fill(5)
let count = 0
const rest = (): Uint8Array => blake2b256(Uint8Array.of(++count & 255, count >> 8))
const nibbles = Array.from({ length: 16 }, (_, nibble) => nibble)

/** Keys that share twelve nibbles, with others at each of them, and a full subtree of two levels below. */
const deepMap = freeMap(
  nodeOf([
    ...shared.flatMap((_, length) =>
      nibbles
        .filter((nibble) => nibble !== 5)
        .map((nibble) => leafAt(pathFrom([...shared.slice(0, length), nibble], rest()))),
    ),
    ...nibbles.flatMap((first) =>
      nibbles.map((second) => leafAt(pathFrom([...shared, first, second], rest()))),
    ),
  ]),
)

const deepPath = pathFrom(shared, new Uint8Array(32))
const deepHeader = { ...header, utxosRoot: deepMap.root }
/** One way of as many branches as there is room for, and who asks for its end. */
const longest = 62
const longWay = freeMap(
  nodeOf(
    Array.from({ length: longest + 1 }, (_, length) =>
      leafAt(pathFrom([...nibblesOf(deepPath, 0, length), 7], rest())),
    ),
  ),
)
const entryQuestion = asking(
  nextAt(longWay, 'entry', pathFrom([...nibblesOf(deepPath, 0, longest)], rest()), 0),
  1,
  { ...header, utxosRoot: longWay.root },
)
/** A map of transactions whose hashes are ground to share twelve nibbles with the number of a chunk. */
const absentPath = blake2b256(chunkKey(1))
const groundWay = freeMap(
  nodeOf(
    Array.from({ length: depth + 1 }, (_, length) => {
      const other = ((absentPath[length >> 1]! >> (length % 2 === 0 ? 4 : 0)) + 1) & 15
      return leafAt(pathFrom([...nibblesOf(absentPath, 0, length), other], rest()))
    }),
  ),
)
const absentChunk = chunkQuestion(1, { ...header, transactionsRoot: groundWay.root })
const noChunk = encodeChunkAnswer(0, { absent: groundWay.openPath(absentPath).proof })
const deep = (kind: 'subtree' | 'leaf', above = depth): Asked =>
  asking(nextAt(deepMap, kind, deepPath, above), 1, deepHeader)

export const summonsTransactions = (world: World): (readonly [string, TestTransaction])[] => [
  ['ask for a chunk', ask(world, chunkQuestion(0))],
  ['ask for 30 chunks at once', askForChunks(world, 30)],
  ['ask for a subtree below 12 branches', ask(world, deep('subtree'))],
  ['answer with a chunk of 12,288 B', answerBy(world, chunkQuestion(0), encodeChunkAnswer(0, shownChunk))],
  ['answer with a full subtree below 12 branches', answerFrom(world, deepMap, deep('subtree'))],
  ['ask for an entry', ask(world, entryQuestion)],
  ['answer with an entry below 62 branches', answerFrom(world, longWay, entryQuestion)],
  ['answer that there is no chunk, below 12 branches', answerBy(world, absentChunk, noChunk)],
  ['answer with a leaf', answerFrom(world, deepMap, deep('leaf', 0))],
  ['end a question with a verdict', expire(world, deep('subtree'))],
  ['end a question, remove and slash', removeByExpiry()],
  ['reclaim the bond of a stale question', reclaim(world, deep('subtree'))],
  ['reclaim it beside a verdict', reclaimByVerdict(world, deep('subtree'))],
  ['reclaim 15 beside a verdict', reclaimByVerdict(world, chunkQuestion(0), ...chunkQuestions(15).slice(1))],
]
