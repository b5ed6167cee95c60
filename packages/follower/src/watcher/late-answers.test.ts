import { encodeOutputRecord } from '@ratatosk/block'
import { concatBytes, equalBytes, fromHex } from '@ratatosk/cbor'
import { isLayer1Error } from '@ratatosk/layer1'
import { blake2b256, encodeOutputReference } from '@ratatosk/ledger'
import { openContracts, summonsTerms } from '@ratatosk/protocol'
import { nibbleAt, nibblesOf, type Trie } from '@ratatosk/trie'
import { expect, test } from 'vitest'
import {
  deepened,
  freeMap,
  leafAt,
  leavesOf,
  nodeOf,
  pathFrom,
} from '../../../protocol/dist/fraud/test/free-map.js'
import {
  type BlockOptions,
  blockOf,
  bridge,
  type Committed,
  deposit,
  keyOf,
  payment,
} from '../../../protocol/dist/fraud/test/lying-blocks.js'
import { eight, theft } from '../../../protocol/dist/fraud/test/theft.js'
import { summonsContracts } from '../../../protocol/dist/test/protocol-scene.js'
import { mostAtOnce } from './hidden-root.js'
import type { AnswererOptions } from './test/answerer.js'
import { honest, ofLie, raiseFees } from './test/lies.js'
import { newest, openOperator, openWatched, openWatcher, until, type Watched } from './test/scene.js'

/* A lying operator answers each question in its last minutes. The block is removed in time nevertheless. */

const timeout = 600_000
/** `RATATOSK_SEARCH_ENTRIES=1000000` searches among so many outputs. */
const outputs = Number(process.env.RATATOSK_SEARCH_ENTRIES ?? 1000)
/** As on a public network. */
const maturityWindow = 7n * 24n * 3_600_000n
const contracts = openContracts(
  {
    ...summonsContracts.parameters,
    maturityWindow,
    releaseDelay: 2n * maturityWindow,
    summons: summonsTerms(maturityWindow),
  },
  0,
)

/** Resolves when no question was added for a while: in the test, hours pass in a moment. */
async function areAllAsked({ scene }: Watched): Promise<void> {
  const { devnet, layer1 } = scene
  const asked = async () => {
    const utxos = await layer1.utxosByPolicy(contracts.summons!.policy)
    return [utxos.length, devnet.mempool().length].join()
  }
  for (let [before, same] = ['', 0]; same < 10; ) {
    const now = await asked()
    same = now === before ? same + 1 : 0
    before = now
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Milliseconds before a deadline in which all questions of a round are answered, one after the other. */
const leadMs = 120_000

/** Sends each answer in the last minutes before the deadline of its question. */
async function answerLate(watched: Watched, committed: Committed, options: AnswererOptions = {}) {
  const { clock, devnet } = watched.scene
  const late: bigint[] = []
  const { answered } = await openOperator(watched, committed, {
    ...options,
    async whenDue({ question: { deadline } }, answer) {
      await areAllAsked(watched)
      const resume = await watched.stopMining()
      clock.time = Math.max(clock.time, Number(deadline) - leadMs)
      const sent = devnet.mempool().length
      await answer().catch((error: unknown) => {
        // A false map may have nodes that it cannot show, and the verdict about them comes first.
        if (options.records === undefined) throw error
        if (!(error instanceof RangeError) && !isLayer1Error(error)) throw error
      })
      if (devnet.mempool().length > sent) late.push(deadline - BigInt(clock.time))
      resume()
    },
  })
  return { answered, late }
}

/** Outputs of others, beside the path of one that the block makes. */
const bystanders = {
  [`${outputs} at random`]: () =>
    Array.from({ length: outputs }, (_, i) => leafAt(blake2b256(new TextEncoder().encode(String(i))))),
  'those of users who have ground keys to share twelve nibbles with it': (path: Uint8Array) =>
    Array.from({ length: 13 }, (_, shared) =>
      leafAt(
        pathFrom(
          [...nibblesOf(path, 0, shared), nibbleAt(path, shared) ^ 1],
          blake2b256(concatBytes(path, Uint8Array.of(shared))),
        ),
      ),
    ),
}

test.each(Object.entries(bystanders))('a false output among %s', { timeout }, async (_what, others) => {
  const watched = await openWatched({ contracts })
  const { outputs, ...committed } = honest(watched.story)
  const made = [...outputs.after].find(([key]) => !outputs.before.has(key))!
  const path = blake2b256(fromHex(made[0]))
  const ground = [...leavesOf(outputs.after), ...others(path)]
  const truth = freeMap(nodeOf(ground))
  const posted = freeMap(nodeOf(ground.map((leaf) => (equalBytes(leaf.path, path) ? leafAt(path, 9) : leaf))))
  const lie = {
    ...committed,
    outputs,
    after: posted as Trie,
    roots: { ...committed.roots, utxosRoot: posted.root },
  }
  const block = { ...(await watched.commit(lie)), afterTransactions: truth }
  await isRemovedInTime(watched, lie, block)
})

test('an output in the map of a block, whose body is withheld too', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const lie = ofLie('inventedOutput', watched.story)
  const { entries: _, ...block } = (await watched.commit(lie)) as Committed & Block
  await isRemovedInTime(watched, lie, block)
})

/** A block of 40 transactions, whose first records say that fees are higher. */
function withWrongFees(wrong: number, options: BlockOptions = {}): Committed {
  const transactions = Array.from({ length: 40 }, (_, index) =>
    theft({ inputs: [index], outputs: 10, lovelace: 450_000n }),
  )
  return blockOf(transactions, { ...options, entries: (map) => raiseFees(map, wrong) })
}

test('one record of a block of many transactions', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const lie = withWrongFees(1)
  const { entries: _, ...block } = (await watched.commit(lie)) as Committed & Block
  expect(await isRemovedInTime(watched, lie, block)).toBeLessThan(5)
})

test('one record behind a deposit that is not credited, which no claim reaches', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const lie = withWrongFees(1, { bridge, feesTo: undefined })
  const { entries: _, ...block } = (await watched.commit(lie)) as Committed & Block
  const [record = 0] = blake2b256(eight(0n))
  const taken = new Set(entriesOf(lie).map(({ path }) => path[0]))
  // The first answer shows that it is missing, before it shows anything of the record.
  const isFirst = (id: Uint8Array): boolean => {
    const [first = 0] = blake2b256(encodeOutputReference({ transactionId: id, index: 0 }))
    return first < record && !taken.has(first)
  }
  const id = Array.from({ length: 256 }, (_, byte) => new Uint8Array(32).fill(byte)).find(isFirst)!
  await isRemovedInTime(watched, lie, { ...block, deposits: [{ ...deposit, id }] })
})

test('all records of a block of many transactions', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const lie = withWrongFees(40)
  const { entries: _, ...block } = (await watched.commit(lie)) as Committed & Block
  // Of many answers at once, some are refused, because the verdict comes first.
  await answerLate(watched, lie, { records: freeMap(nodeOf(entriesOf(lie))) })
  const { errors } = openWatcher(watched, [block])
  await watched.pass(maturityWindow / 10n)
  await until('it is removed', async () => (await watched.queued()).length === 0, timeout)
  const verdict = await newest(watched)
  const asked = verdict!.transactions.filter(({ stage }) => stage === 'question').length
  const share = ((BigInt(watched.scene.clock.time) - block.header.endTime) * 100n) / maturityWindow
  console.log(`${asked} questions, removed after ${share} % of the window`)
  expect(asked).toBeLessThan(2 * mostAtOnce)
  expect(share).toBeLessThan(60n)
  expect(errors).toEqual([])
})

const entriesOf = ({ entries = [] }: Committed) =>
  Array.from(entries, ([key, value]) => ({
    kind: 'leaf' as const,
    path: blake2b256(key),
    valueHash: blake2b256(value),
  }))

test('an output in a map with a deep way to what its proof needs, whose body is withheld too', {
  timeout,
}, async () => {
  const watched = await openWatched({ contracts })
  const { transactions, firstId } = watched.story
  const way = blake2b256(new Uint8Array(8))
  // The first answer about the map shows the output: what is behind is asked about for its proof only.
  const isFirst = (key: string): boolean => nibbleAt(blake2b256(fromHex(key)), 0) < nibbleAt(way, 0)
  const keys = Array.from({ length: 100 }, (_, index) => keyOf({ transactionId: firstId, index: 9 + index }))
  const record = { createdBy: 0, spentBy: undefined, outputHash: blake2b256(payment(9_000_000n).bytes) }
  const lie = blockOf(transactions, {
    entries: (map) => map.set(keys.find(isFirst)!, encodeOutputRecord(record)),
  })
  const posted = freeMap(deepened(nodeOf(entriesOf(lie)), (path) => equalBytes(path, way)))
  const committed = { ...lie, roots: { ...lie.roots, transactionsRoot: posted.root } }
  const { entries: _, ...block } = (await watched.commit(committed)) as Committed & Block
  await answerLate(watched, committed, { records: posted })
  const { errors } = openWatcher(watched, [block], { withheld: { judge: async () => false } })
  await watched.pass(maturityWindow / 10n)
  await until('it is removed', async () => (await watched.queued()).length === 0, timeout)
  const share = ((BigInt(watched.scene.clock.time) - block.header.endTime) * 100n) / maturityWindow
  const verdict = await newest(watched)
  const asked = verdict!.transactions.filter(({ stage }) => stage === 'question').length
  console.log(`${asked} questions, removed after ${share} % of the window`)
  expect(verdict).toMatchObject({ proof: { policy: 'ledger', fraud: 'inventedOutput' } })
  expect(share).toBeLessThan(60n)
  expect(errors).toEqual([])
})

type Block = Awaited<ReturnType<Watched['commit']>>

/** Returns the number of questions. */
async function isRemovedInTime(watched: Watched, lie: Committed, block: Block): Promise<number> {
  const { scene, store, queued } = watched
  const { answered, late } = await answerLate(watched, lie)
  const { errors } = openWatcher(watched, [block], {
    withheld: { judge: async () => false },
    patienceMs: 20_000,
  })
  await until('it is removed', async () => (await queued()).length === 0, timeout)
  const share = ((BigInt(scene.clock.time) - block.header.endTime) * 100n) / maturityWindow
  console.log(`${answered.length} questions, removed after ${share} % of the window`)
  expect(late.length, 'each question was answered late').toBe(answered.length)
  expect(late.length).toBeGreaterThan(0)
  expect(
    late.every((left) => left >= 0n && left <= BigInt(leadMs)),
    late.join(),
  ).toBe(true)
  expect(share).toBeLessThan(100n)
  const verdict = await newest({ store })
  expect(verdict).toMatchObject({ proof: { policy: 'ledger' } })
  const stages = verdict!.transactions.map(({ stage }) => stage)
  // The first answers about entries may show what is false.
  expect(stages.filter((stage) => stage !== 'question')).toEqual(['removal'])
  expect(stages.length).toBeGreaterThan(answered.length)
  expect(errors).toEqual([])
  return answered.length
}
