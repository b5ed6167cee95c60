import { concatBytes, equalBytes, fromHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import { openContracts, summonsTerms } from '@ratatosk/protocol'
import { nibbleAt, nibblesOf, type Trie } from '@ratatosk/trie'
import { expect, test } from 'vitest'
import { freeMap, leafAt, leavesOf, nodeOf, pathFrom } from '../../../contracts/dist/test/summons/free-map.js'
import type { Committed } from '../../../fraud/dist/test/lying-blocks.js'
import { summonsContracts } from '../../../protocol/dist/test/protocol-scene.js'
import { honest, ofLie } from './test/lies.js'
import { openOperator } from './test/operator.js'
import { openWatched, openWatcher, until, type Watched } from './test/scene.js'

/* A lying operator answers each question in its last second. The block is removed in time nevertheless. */

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

/** Sends each answer so that it is in a block one second before the deadline of its question at most. */
async function answerLate(watched: Watched, committed: Committed) {
  const { clock, devnet } = watched.scene
  const late: bigint[] = []
  const { answered } = await openOperator(watched, committed, {
    async whenDue({ question: { deadline } }, answer) {
      const resume = await watched.stopMining()
      // A block adds a second. Questions of the same time are answered in the same block.
      clock.time = Math.max(clock.time, Number(deadline) - 1500)
      await answer()
      expect(devnet.mempool().length).toBeGreaterThan(0)
      late.push(deadline - BigInt(clock.time))
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

type Block = Awaited<ReturnType<Watched['commit']>>

async function isRemovedInTime(watched: Watched, lie: Committed, block: Block): Promise<void> {
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
    late.every((left) => left >= 0n && left <= 1500n),
    late.join(),
  ).toBe(true)
  expect(share).toBeLessThan(100n)
  const [verdict] = (await store.verdicts.list({ limit: 1 })).verdicts
  expect(verdict).toMatchObject({ policy: 'ledger' })
  expect(verdict!.transactions.map(({ stage }) => stage)).toEqual([
    ...answered.map(() => 'question'),
    'removal',
  ])
  expect(errors).toEqual([])
}
