import { randomBytes } from 'node:crypto'
import { toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import { decodePlutusData, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { claimOutput, encodeAsk, encodeLedgerFraudProof, nextQuestions } from '@ratatosk/protocol/fraud'
import { createMemoryStore, createTrie, nibbleAt, nibblesOf, type TrieView } from '@ratatosk/trie'
import { afterAll, describe, expect, it } from 'vitest'
import {
  type FreeBranch,
  type FreeNode,
  freeMap,
  leafAt,
  leavesOf,
  nodeOf,
  pathFrom,
} from '../../../../protocol/dist/fraud/test/free-map.js'
import type { SummonsQuestion } from '../../datum/summons.js'
import { ledgerFraudScript } from '../../fraud-scripts.js'
import { engines } from '../../test/evaluate.js'
import { blockOf, outputsBefore, story, type TestBlock } from '../../test/fraud/blocks.js'
import { type Draw, drawing } from '../../test/fraud/draw.js'
import { mutated } from '../../test/fraud/trial.js'
import { verdictsOf } from '../../test/fraud/without-rules.js'
import {
  type Asked,
  answererOf,
  answerFrom,
  answerHonestly,
  ask,
  asking,
  chunkQuestion,
  header,
  nextAt,
  outputs,
  recordQuestion,
  recordsQuestion,
  type Search,
  search,
  somePath,
  subtreeQuestion,
} from '../../test/summons/scenarios.js'
import { createWorld } from '../../test/world.js'

const number = (name: string, usual: number): number => Number(process.env[name] ?? usual)
const entries = number('RATATOSK_SEARCH_ENTRIES', 1000)
const runs = number('RATATOSK_SEARCH_RUNS', 5)
const world = createWorld()
const verdict = verdictsOf(ledgerFraudScript(), encodeLedgerFraudProof)
const { cek } = engines

const ofNumber = (value: number) => blake2b256(new TextEncoder().encode(String(value)))
/** An output reference and an output that no transaction of the story names. */
const bystanders = Array.from(
  { length: entries },
  (_, i) => [`825820${toHex(ofNumber(i))}00`, ofNumber(i)] as const,
)
const block = blockOf(story, new Map([...outputsBefore(), ...bystanders]))
const leaves = leavesOf(block.outputsAfter)
const paths = leaves.map(({ path }) => path)
const top = nodeOf(leaves)

/** Searches that the tests have run; the report shows the largest. */
const searches: Search[] = []
afterAll(() => {
  const most = (of: (search: Search) => number) => Math.max(...searches.map(of))
  const [questions, bytes] = [most(({ questions }) => questions.length), most(({ bytes }) => bytes)]
  const rounds = most(({ rounds }) => rounds)
  const [memory, steps] = [most(({ memory }) => memory), most(({ steps }) => steps)]
  console.log(
    `${searches.length} searches among ${entries} entries: at most ${rounds} rounds,`,
    `${questions} questions, ${bytes} B,`,
    `${memory} memory (${(memory / 140_000).toFixed(1)} %), ${steps} steps (${(steps / 1e8).toFixed(1)} %)`,
  )
})

/** The number of branches on the longest way. */
const branchesOf = (node: ReturnType<typeof nodeOf>): number =>
  node?.kind === 'branch'
    ? 1 + Math.max(0, ...node.below.map((child) => (child instanceof Uint8Array ? 0 : branchesOf(child))))
    : 0

async function convicts(lie: TestBlock, posted: TrieView, root = posted.root): Promise<Search> {
  const header = { ...block.header, utxosRoot: root }
  const ended = search(world, block.after, header, answererOf(posted))
  searches.push(ended)
  expect(ended.end).not.toBe('none')
  expect(ended.rounds).toBeLessThanOrEqual(Math.ceil(branchesOf(top) / 2) + 1)
  if (ended.difference !== undefined) {
    const proof = await claimOutput(lie, ended.difference, async () => undefined)
    expect(cek(verdict({ ...lie, header }, proof))).toMatchObject({ ok: true })
    // Of the honest block, the same is not proven.
    expect(cek(verdict(block, proof))).toMatchObject({ ok: false })
  }
  return ended
}

describe('a search for a false root of the outputs', () => {
  it('needs no question if the root is true', () => {
    expect(nextQuestions(block.after, block.header.utxosRoot, () => undefined)).toEqual({
      differences: [],
      questions: [],
    })
  })

  it('ends by silence if nobody knows a map of the root', async () => {
    const ended = await convicts(block, freeMap(undefined), new Uint8Array(randomBytes(32)))
    expect(ended).toMatchObject({ end: 'silence', questions: [{ question: { kind: 'subtree' } }] })
  })

  it('needs no question if the posted map is empty', async () => {
    const ended = await convicts(block, freeMap(undefined), new Uint8Array(32))
    expect(ended).toMatchObject({ end: 'difference', questions: [] })
  })

  it.each([
    ['an output is missing', (after: Map<string, Uint8Array>) => after.delete(bystanders[7]![0])],
    ['an output is another', (after: Map<string, Uint8Array>) => after.set(bystanders[7]![0], ofNumber(0))],
    ['an output is added', (after: Map<string, Uint8Array>) => after.set('82', ofNumber(0))],
    [
      'what the block made is missing',
      (after: Map<string, Uint8Array>) => {
        for (const key of block.entries.keys()) after.delete(key)
      },
    ],
    [
      'what the block spent is there',
      (after: Map<string, Uint8Array>) => {
        for (const [key, output] of outputsBefore()) after.set(key, output)
      },
    ],
    [
      'all are others',
      (after: Map<string, Uint8Array>) => {
        after.clear()
        for (let i = 0; i < 100; i++) after.set(toHex(ofNumber(-i)), ofNumber(i))
      },
    ],
    [
      'one is left',
      (after: Map<string, Uint8Array>) => {
        after.clear()
        after.set(...bystanders[7]!)
      },
    ],
  ])('finds that %s', async (_what, change) => {
    const lie = blockOf(story, block.outputsBefore, { after: change })
    expect(await convicts(lie, lie.after)).toMatchObject({ end: 'difference' })
  })

  it.each(Object.entries(falsehoods))('convicts a map in which a node %s', async (_what, falsify) => {
    for (const [seed, levels] of [0, 1, 2, 3, 9].entries()) {
      const draw = drawing(seed)
      const posted = falsified(top, drawnPath(draw, paths), levels, falsify)
      if (posted instanceof Uint8Array) await convicts(block, freeMap(undefined), posted)
      else await convicts(block, freeMap(posted))
    }
  })

  it(`convicts ${runs} maps with two false nodes`, { timeout: 3_600_000 }, async () => {
    const kinds = Object.values(falsehoods)
    for (let seed = 0; seed < runs; seed++) {
      const draw = drawing(1000 + seed)
      const draws = [0, 1].map(
        () => [drawnPath(draw, paths), 1 + draw(6), kinds[draw(kinds.length)]!] as const,
      )
      const posted = draws.reduce<ReturnType<typeof falsified>>(
        (node, [path, levels, falsify]) =>
          node instanceof Uint8Array ? node : falsified(node, path, levels, falsify),
        top,
      )
      if (posted instanceof Uint8Array) continue
      const map = freeMap(posted)
      if (Buffer.compare(map.root, block.header.utxosRoot) !== 0) await convicts(block, map)
    }
  })

  it('finds what a batch changes', { timeout: 3_600_000 }, async () => {
    const trie = createTrie({ store: createMemoryStore() })
    const keyOf = (i: number) => ofNumber(i)
    await trie.rebuild(Array.from({ length: entries }, (_, i) => [keyOf(i), keyOf(i)] as const))
    const before = trie.root
    for (const changes of [1, 30, 1000]) {
      const places = Array.from({ length: changes }, (_, i) => keyOf((i * 7919 + changes) % entries))
      trie.update(places.map((key) => ({ type: 'delete', key })))
      trie.update(places.slice(1).map((key) => ({ type: 'insert', key, value: key.subarray(1) })))
      const header = { ...block.header, utxosRoot: trie.root }
      const ended = search(world, trie.at(before), header, answererOf(trie))
      searches.push(ended)
      expect(ended.end).toBe('difference')
      expect(ended.rounds).toBeLessThanOrEqual(Math.ceil((Math.log2(entries) / 4 + 5) / 2) + 1)
      trie.revert(before)
    }
  })

  it('finds a difference below twelve shared nibbles', () => {
    const shared = new Array<number>(12).fill(5)
    const ground = [
      ...shared.map((_, length) => leafAt(pathFrom([...shared.slice(0, length), 6], ofNumber(length)))),
      ...Array.from({ length: 16 }, (_, nibble) => leafAt(pathFrom([...shared, nibble], ofNumber(nibble)))),
    ]
    const truth = freeMap(nodeOf(ground))
    const posted = freeMap(nodeOf([...ground.slice(0, -1), leafAt(ground.at(-1)!.path, 2)]))
    const header = { ...block.header, utxosRoot: posted.root }
    const ended = search(world, truth, header, answererOf(posted))
    searches.push(ended)
    expect(ended).toMatchObject({ end: 'difference', difference: { path: ground.at(-1)!.path } })
    expect(ended.rounds).toBeLessThanOrEqual(8)
  })
})

describe('an honest operator', () => {
  it(`has an answer to every question of ${20 * runs} that the summons takes`, { timeout: 3_600_000 }, () => {
    let taken = 0
    for (let seed = 0; seed < 20 * runs; seed++) {
      const { asked, redeemer } = drawnQuestion(drawing(seed))
      const transaction = ask(world, asked)
      const [mint] = transaction.mintRedeemers
      const isTaken = cek({ ...transaction, mintRedeemers: [{ ...mint!, redeemer }] }).ok
      if (!isTaken) continue
      taken++
      expect(cek(answerHonestly(world, asked)), `seed ${seed}`).toMatchObject({ ok: true })
    }
    expect(taken).toBeGreaterThan(runs)
  })

  it('has an answer to every question about a node', () => {
    const draw = drawing(7)
    const large = createTrie({ store: createMemoryStore(), history: 0 })
    large.update(
      bystanders.map(([key]) => ({ type: 'insert', key: Buffer.from(key, 'hex'), value: ofNumber(1) })),
    )
    for (const trie of [outputs, large]) {
      for (let i = 0; i < runs; i++) {
        const path = draw(2) === 0 ? paths[draw(paths.length)]! : ofNumber(-draw(1000))
        const above = trie.openPath(path).proof.length
        const steps = draw(above + 1)
        if (trie.nodeAt(path, depthBelow(trie, path, steps)) === undefined) continue
        const header = { ...block.header, utxosRoot: trie.root }
        const asked = asking(nextAt(trie, nodeKinds[draw(3)]!, path, steps), 1, header)
        expect(cek(ask(world, asked))).toMatchObject({ ok: true })
        expect(cek(answerFrom(world, trie, asked))).toMatchObject({ ok: true })
      }
    }
  })
})

const depthBelow = (trie: TrieView, path: Uint8Array, steps: number): number =>
  trie
    .openPath(path)
    .proof.slice(0, steps)
    .reduce((sum, { skip }) => sum + skip + 1, 0)

const nodeKinds = ['subtree', 'leaf', 'entry'] as const
const kinds = ['chunk', ...nodeKinds] as const

const bases: readonly Asked[] = [
  ...[0, 1, 2].flatMap((steps) => nodeKinds.map((kind) => asking(nextAt(outputs, kind, somePath, steps), 1))),
  recordsQuestion,
  recordQuestion,
  chunkQuestion(0),
  chunkQuestion(7),
]

/** Bytes with one changed, and at times one more or less. */
function changedBytes(value: Uint8Array, draw: Draw): Uint8Array {
  const bytes = Uint8Array.from(value)
  bytes[draw(bytes.length)] = draw(256)
  const length = draw(6)
  if (length === 1) return bytes.subarray(1)
  return length === 2 ? Uint8Array.of(...bytes, draw(256)) : bytes
}

type Change = (question: SummonsQuestion, draw: Draw) => Partial<SummonsQuestion>

const changes: readonly Change[] = [
  (_question, draw) => ({ kind: kinds[draw(4)]! }),
  (_question, draw) => ({ root: draw(11) }),
  ({ key }, draw) => ({ key: changedBytes(key, draw) }),
  ({ key }, draw) => ({ key: Uint8Array.of(...key.subarray(0, -1), draw(66)) }),
  (_question, draw) => ({ key: bases[draw(bases.length)]!.question.key }),
  ({ hash }, draw) => ({ hash: changedBytes(hash, draw) }),
  (_question, draw) => ({ hash: bases[draw(bases.length)]!.question.hash }),
  ({ refund }, draw) => ({ refund: changedBytes(refund, draw) }),
  ({ deadline }, draw) => ({ deadline: deadline + BigInt(draw(3)) - 1n }),
]

const pool = bases.map(({ steps }) => decodePlutusData(encodeAsk(header, [steps])))

/** A question about the honest header with a few changes, and the redeemer that asks it. */
function drawnQuestion(draw: Draw): { readonly asked: Asked; readonly redeemer: Uint8Array } {
  const base = bases[draw(bases.length)] ?? subtreeQuestion
  let { question } = base
  for (let left = draw(3); left > 0; left--)
    question = { ...question, ...changes[draw(changes.length)]!(question, draw) }
  const steps = draw(3) === 1 ? bases[draw(bases.length)]!.steps : base.steps
  const redeemer = decodePlutusData(encodeAsk(header, [steps]))
  const changed = draw(2) === 1 ? mutated(redeemer, pool, draw).redeemer : redeemer
  return { asked: { header, question, steps }, redeemer: encodePlutusData(changed) }
}

/*
 * The nodes that an operator can put in the place of one of a true map, whose root then is false.
 */

const branchOver = (
  path: Uint8Array,
  fork: number,
  below: ReadonlyMap<number, FreeBranch['below'][number]>,
) =>
  ({
    kind: 'branch',
    path,
    fork,
    below: Array.from({ length: 16 }, (_, nibble) => below.get(nibble)),
  }) as const

/** The nibble beside that of a path. */
const beside = (path: Uint8Array, index: number): number => nibbleAt(path, index) ^ 1

/** A path that leaves another at a nibble, and whose key no one knows. */
const leaving = (path: Uint8Array, index: number): Uint8Array =>
  pathFrom([...nibblesOf(path, 0, index), beside(path, index)], blake2b256(Uint8Array.of(index, ...path)))

type Falsify = (
  node: FreeNode | undefined,
  depth: number,
  path: Uint8Array,
) => FreeNode | Uint8Array | undefined

/** By name. Each replaces the node below `depth` nibbles of `path`. */
const falsehoods: { readonly [name: string]: Falsify } = {
  'is missing': () => undefined,
  'are random bytes': (_node, depth, path) => blake2b256(Uint8Array.of(depth, ...path)),
  'is a leaf without a key': (_node, depth, path) => leafAt(leaving(path, Math.max(depth, 20))),
  'is another value at the path': (_node, _depth, path) => leafAt(path, 9),
  'has a leaf without a key beside it': (node, depth, path) =>
    node?.kind === 'leaf'
      ? nodeOf([node, leafAt(leaving(node.path, Math.max(depth, 40)))], depth)
      : leafAt(path),
  'is at the end of branches down to nibble 63, each with a leaf': (_node, depth, path) =>
    nodeOf(
      [leafAt(path), ...Array.from({ length: 64 - depth }, (_, i) => leafAt(leaving(path, depth + i)))],
      depth,
    ),
  'is at the end of branches down to nibble 63, each with random bytes': (_node, depth, path) => {
    let below: FreeNode = leafAt(path)
    for (let fork = 63; fork >= depth; fork--)
      below = branchOver(
        path,
        fork,
        new Map<number, FreeNode | Uint8Array>([
          [nibbleAt(path, fork), below],
          [beside(path, fork), blake2b256(Uint8Array.of(fork))],
        ]),
      )
    return below
  },
  'is below a branch with one child': (node, depth, path) =>
    branchOver(path, depth, new Map([[nibbleAt(path, depth), sunk(node, depth, path)]])),
  'is a branch without children': (_node, depth, path) => branchOver(path, depth, new Map()),
  'is a branch with another prefix': (node, depth, path) =>
    node?.kind === 'branch'
      ? { ...node, path: leaving(node.path, depth), fork: Math.max(node.fork, depth + 1) }
      : leafAt(leaving(path, depth + 1)),
  'is a leaf whose path a branch could imitate': (_node, depth, path) =>
    leafAt(pathFrom([...nibblesOf(path, 0, Math.max(depth, 16))], new Uint8Array(32))),
}

/** The node below a branch with one child: the same node or, of a branch that forks there, its child. */
function sunk(node: FreeNode | undefined, depth: number, path: Uint8Array): FreeNode | Uint8Array {
  const below = node?.kind === 'branch' && node.fork === depth ? node.below[nibbleAt(path, depth)] : node
  return below ?? leafAt(path)
}

/** The map with another node on a path, at most `levels` branches deep. */
function falsified(
  top: FreeNode | undefined,
  path: Uint8Array,
  levels: number,
  falsify: Falsify,
  depth = 0,
): FreeNode | Uint8Array | undefined {
  const nibbles = top === undefined ? 0 : top.kind === 'leaf' ? 64 : top.fork
  const follows = Array.from({ length: nibbles }, (_, at) => at).every(
    (at) => at < depth || nibbleAt(top?.path ?? path, at) === nibbleAt(path, at),
  )
  if (levels === 0 || top?.kind !== 'branch' || !follows) return falsify(top, depth, path)
  const own = nibbleAt(path, top.fork)
  const child = top.below[own]
  const below = top.below.slice()
  below[own] = falsified(
    child instanceof Uint8Array ? undefined : child,
    path,
    levels - 1,
    falsify,
    top.fork + 1,
  )
  return { ...top, below }
}

/** A path to falsify: of an entry, or one that leaves it anywhere near the top. */
function drawnPath(draw: Draw, paths: readonly Uint8Array[]): Uint8Array {
  const path = paths[draw(paths.length)]!
  return draw(3) === 0 ? leaving(path, draw(6)) : path
}
