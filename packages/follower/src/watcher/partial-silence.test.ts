import { chunkKey, encodeChunkRecord } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import { readQuestions } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { blockOf, framesOf } from '../../../fraud/dist/test/lying-blocks.js'
import { summonsContracts as contracts } from '../../../protocol/dist/test/protocol-scene.js'
import type { InvalidBlock } from '../index.js'
import { waveOf } from './allowance.js'
import { chunkNumberOf } from './question-book.js'
import { openOperator } from './test/operator.js'
import { openWatched, openWatcher, until } from './test/scene.js'

/* An operator shows the first chunk, which counts many, and is silent about the others. */

const isFull = process.env.RATATOSK_TESTS === 'full'
const chunks = isFull ? 1024 : 12
const { period } = contracts.parameters.summons!

test(`of ${chunks} chunks, no more are asked for than one bond is worth, and all bonds return at once`, {
  timeout: isFull ? 1_200_000 : 120_000,
}, async () => {
  const watched = await openWatched({ contracts })
  const { transactions } = watched.story
  const chunkHash = blake2b256(framesOf(...transactions))
  const committed = blockOf(transactions, {
    entries: (map) => map.set(toHex(chunkKey(0)), encodeChunkRecord({ first: 0, chunks, chunkHash })),
  })
  const { entries: _, ...block } = (await watched.commit(committed)) as InvalidBlock & { entries?: unknown }
  await openOperator(watched, committed, { isSilent: ({ key }) => chunkNumberOf(key) > 0 })
  const withheld = { judge: async () => false }
  const { wallet, errors } = openWatcher(watched, [block], { withheld, patienceMs: 20_000 })
  const before = (await wallet.balance()).lovelace
  const open = async () =>
    readQuestions(contracts, await watched.scene.layer1.utxosByPolicy(contracts.summons!.policy)).length
  const most = Math.min(chunks - 1, waveOf(1))
  await until('they are asked for', async () => (await open()) >= most, 600_000)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  expect(await open()).toBe(most)

  await watched.pass(2n * period)
  await until('it is removed', async () => (await watched.queued()).length === 0)
  await until('no question is left', async () => (await open()) === 0, 600_000)
  const fees = BigInt(most) * 600_000n
  await until('the bonds are back', async () => (await wallet.balance()).lovelace > before - fees, 600_000)
  expect(errors).toEqual([])
})
