import { toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import { openContracts, readQuestions } from '@ratatosk/protocol'
import { openStore } from '@ratatosk/store'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import { expect, test } from 'vitest'
import { blockOf } from '../../../fraud/dist/test/lying-blocks.js'
import { summonsContracts } from '../../../protocol/dist/test/protocol-scene.js'
import { chunkNumberOf } from './question-book.js'
import { openOperator } from './test/operator.js'
import { keys, openWatched, openWatcher, until, type Watched } from './test/scene.js'

/* A body of many chunks, each of which is shown in the last minutes before its deadline. */

const timeout = 900_000
/** `RATATOSK_CHUNKS=169` shows so many. */
const chunks = Number(process.env.RATATOSK_CHUNKS ?? 45)
const hourMs = 3_600_000n
/** Three rounds of questions end before the last removal. */
const period = 14n * hourMs
const maturityWindow = 5n * period
const summons = { ...summonsContracts.parameters.summons!, period }
const contracts = openContracts(
  { ...summonsContracts.parameters, maturityWindow, releaseDelay: 2n * maturityWindow, summons },
  0,
)
const leadMs = 30 * 60_000

/** A transaction that fills a chunk. */
function filler(number: number): Uint8Array {
  const bytes = new Uint8Array(11_900)
  bytes.set([0x59, 0x2e, 0x79])
  bytes.set(blake2b256(Uint8Array.of(number, number >> 8)), 10)
  return bytes
}

const openOf = async ({ scene }: Watched) =>
  readQuestions(contracts, await scene.layer1.utxosByPolicy(contracts.summons!.policy))

/** Resolves when no question was added for a while: in the test, hours pass in a moment. */
async function areAllAsked(watched: Watched): Promise<void> {
  for (let [before, same] = ['', 0]; same < 20; ) {
    const now = [(await openOf(watched)).length, watched.scene.devnet.mempool().length].join()
    same = now === before ? same + 1 : 0
    before = now
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

test(`a theft at the end of ${chunks} chunks is removed by two watchers, who seldom ask twice`, {
  timeout,
}, async () => {
  const watched = await openWatched({ contracts })
  const { scene, story, store } = watched
  const fillers = Array.from({ length: chunks - 1 }, (_, number) => filler(number))
  const committed = blockOf([...fillers, story.conjured])
  const block = await watched.commit(committed)
  const { answered } = await openOperator(watched, committed, {
    async whenDue({ question: { deadline } }, answer) {
      if (BigInt(scene.clock.time) < deadline - BigInt(leadMs)) {
        await areAllAsked(watched)
        const resume = await watched.stopMining()
        scene.clock.time = Math.max(scene.clock.time, Number(deadline) - leadMs)
        resume()
      }
      await answer()
    },
  })
  const withheld = { judge: async () => false }
  const options = { withheld, patienceMs: 20_000 }
  const other = { ...watched, store: await openTestStore(openStore) }
  const watchers = [
    openWatcher(watched, [block], options),
    openWatcher(other, [block], { ...options, walletKeys: keys, name: 'other' }),
  ]
  await until('it is removed', async () => (await watched.queued()).length === 0, timeout)
  const share = ((BigInt(scene.clock.time) - block.header.endTime) * 100n) / maturityWindow
  const asked = watchers.map(({ watcher }) => watcher.questions().asked)
  console.log(`${asked.join(' and ')} questions, ${answered.length} answers, removed after ${share} %`)
  const numbers = new Set(answered.map(({ key }) => chunkNumberOf(key)))
  // The last transaction is in a chunk with another.
  expect(numbers.size).toBe(chunks - 1)
  // Both may ask the same before a block shows them each other's.
  expect(asked.reduce((sum, count) => sum + count)).toBeLessThan(chunks * 1.6)
  expect(share).toBeLessThan(70n)
  const [verdict] = (await store.verdicts.list({ limit: 1 })).verdicts
  expect(toHex(verdict!.headerHash)).toBe(toHex(block.headerHash))
  for (const { errors } of watchers) expect(errors).toEqual([])
})
