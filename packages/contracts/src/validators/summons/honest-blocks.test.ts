import { chunkKey, headerFieldIndex } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import {
  answerAboutNode,
  encodeChunkAnswer,
  encodeNodeAnswer,
  findLedgerFraud,
  nextQuestions,
} from '@ratatosk/protocol/fraud'
import type { TrieView } from '@ratatosk/trie'
import { expect, it } from 'vitest'
import { chunksOf } from '../../../../protocol/dist/fraud/test/lying-blocks.js'
import { engines } from '../../test/evaluate.js'
import type { Entries, TestBlock } from '../../test/fraud/blocks.js'
import { type Draw, drawing } from '../../test/fraud/draw.js'
import { honestBlockOf } from '../../test/fraud/ledger/honest-blocks.js'
import { type Asked, answerBy, ask, asking, nextAt } from '../../test/summons/scenarios.js'
import { createWorld } from '../../test/world.js'

const count = Number(process.env.RATATOSK_QUESTIONED_BLOCKS ?? 10)
const from = Number(process.env.RATATOSK_QUESTIONED_FROM ?? 1)
const world = createWorld()
const { cek } = engines
const nodeKinds = ['subtree', 'leaf', 'entry'] as const

interface PostedMap {
  readonly root: number
  readonly trie: TrieView
  readonly entries: Entries
}

const mapsOf = ({
  header: _,
  map,
  after,
  events,
  entries,
  outputsAfter,
}: TestBlock): readonly PostedMap[] => [
  { root: headerFieldIndex.utxosRoot, trie: after, entries: outputsAfter },
  { root: headerFieldIndex.transactionsRoot, trie: map as TrieView, entries },
  { root: headerFieldIndex.depositsRoot, trie: events.deposits as TrieView, entries: new Map() },
  { root: headerFieldIndex.withdrawalsRoot, trie: events.withdrawals as TrieView, entries: new Map() },
]

/** A path to an entry, or beside all. */
function somePath({ entries }: PostedMap, draw: Draw): Uint8Array {
  const keys = [...entries.keys()]
  const key = draw(3) === 0 ? undefined : keys[draw(Math.max(1, keys.length))]
  return blake2b256(key === undefined ? Uint8Array.of(draw(256), draw(256)) : fromHex(key))
}

function answerOf({ trie, entries }: PostedMap, { question }: Asked): Uint8Array {
  const entryAt = (path: Uint8Array) => {
    for (const [key, value] of entries)
      if (toHex(blake2b256(fromHex(key))) === toHex(path)) return [fromHex(key), value] as const
    return undefined
  }
  const answer = answerAboutNode(question, { trie, entryAt })
  if (answer === undefined) throw new Error('The map does not have the node')
  return encodeNodeAnswer(0, question.key, answer)
}

/** The answer about a chunk, which is there or not. */
function chunkAnswer({ map, entries, transactions }: TestBlock, number: number): Uint8Array {
  const key = chunkKey(number)
  const entry = entries.get(toHex(key))
  if (entry === undefined) return encodeChunkAnswer(0, { absent: map.proveAbsence(key) })
  const bytes = chunksOf(transactions)[number]!
  return encodeChunkAnswer(0, { entry, proof: map.prove(key), parts: [bytes] })
}

it(`every kind of question about each of ${count} honest blocks is answered, and no answer convicts`, {
  timeout: 48 * 3_600_000,
}, () => {
  const asked = new Map<string, number>()
  for (let seed = from; seed < from + count; seed++) {
    const draw = drawing(seed)
    const block = honestBlockOf(draw)
    const { header } = block
    const settle = (kind: string, question: Asked, answer: () => Uint8Array) => {
      const why = `seed ${seed}, ${kind}`
      expect(cek(ask(world, question)), why).toMatchObject({ ok: true })
      expect(cek(answerBy(world, question, answer())), why).toMatchObject({ ok: true })
      asked.set(kind, (asked.get(kind) ?? 0) + 1)
    }
    for (const posted of mapsOf(block)) {
      const path = somePath(posted, draw)
      // An empty map has no node to ask about.
      if (posted.trie.nodeAt(path, 0) === undefined) continue
      const steps = draw(posted.trie.openPath(path).proof.length + 1)
      for (const kind of nodeKinds) {
        const next = nodeIsThere(posted, path, steps) ? steps : 0
        const question = asking(nextAt(posted.trie, kind, path, next), posted.root, header)
        settle(`${kind} of ${posted.root}`, question, () => answerOf(posted, question))
      }
    }
    const chunks = chunksOf(block.transactions).length
    // Nor has a block without transactions a chunk.
    for (const number of block.transactions.length === 0
      ? []
      : [draw(Math.max(1, chunks)), chunks, chunks + 1 + draw(1000)]) {
      const next = { kind: 'chunk', key: chunkKey(number), hash: header.transactionsRoot, steps: [] } as const
      const question = asking(next, headerFieldIndex.transactionsRoot, header)
      settle('chunk', question, () => chunkAnswer(block, number))
    }
    // A watcher that learned the block from these answers finds nothing.
    expect(nextQuestions(block.after, header.utxosRoot, () => undefined)).toEqual({
      differences: [],
      questions: [],
    })
    expect(findLedgerFraud(block), `seed ${seed}`).toBeUndefined()
    if (seed % 1000 === 0) console.log(seed, Object.fromEntries(asked))
  }
  console.log(`${count} blocks:`, Object.fromEntries(asked))
  expect(asked.size).toBeGreaterThanOrEqual(10)
})

function nodeIsThere({ trie }: PostedMap, path: Uint8Array, steps: number): boolean {
  const shown = trie.openPath(path).proof.slice(0, steps)
  return (
    trie.nodeAt(
      path,
      shown.reduce((sum, { skip }) => sum + skip + 1, 0),
    ) !== undefined
  )
}
