import { chunkKey, encodeChunkRecord } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { testWallets } from '@ratatosk/devnet'
import type { ShownChunkAnswer } from '@ratatosk/fraud'
import { blake2b256 } from '@ratatosk/ledger'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { readQuestions } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { blockOf, framesOf } from '../../../fraud/dist/test/lying-blocks.js'
import { summonsContracts as contracts } from '../../../protocol/dist/test/protocol-scene.js'
import type { InvalidBlock } from '../index.js'
import { openAllowance, waveOf } from './allowance.js'
import { chunkNumberOf } from './question-book.js'
import { openOperator } from './test/operator.js'
import { openWatched, openWatcher, until } from './test/scene.js'

/* An operator shows the first chunk, which counts many, and is silent about the others. */

const isFull = process.env.RATATOSK_TESTS === 'full'
const chunks = isFull ? 1024 : 12
const { period } = contracts.parameters.summons!

/** Commits a block whose first chunk counts more than it has. */
async function openCounting(chunks: number) {
  const watched = await openWatched({ contracts })
  const { transactions } = watched.story
  const chunkHash = blake2b256(framesOf(...transactions))
  const committed = blockOf(transactions, {
    entries: (map) => map.set(toHex(chunkKey(0)), encodeChunkRecord({ first: 0, chunks, chunkHash })),
  })
  const { entries: _, ...block } = (await watched.commit(committed)) as InvalidBlock & { entries?: unknown }
  const { policy } = contracts.summons!
  const tokens = () => watched.scene.layer1.utxosByPolicy(policy)
  return {
    watched,
    committed,
    watch: () =>
      openWatcher(watched, [block], { withheld: { judge: async () => false }, patienceMs: 20_000 }),
    open: async () => readQuestions(contracts, await tokens()).length,
    verdicts: async () =>
      (await tokens()).flatMap(({ output }) =>
        [...(output.value.assets.get(policy)?.keys() ?? [])].filter(({ length }) => length === 56),
      ).length,
  }
}

test(`silence behind the first of ${chunks} chunks costs a tenth of an ada for each, and all bonds return`, {
  timeout: isFull ? 1_200_000 : 120_000,
}, async () => {
  const { watched, committed, watch, open } = await openCounting(chunks)
  await openOperator(watched, committed, { isSilent: ({ key }) => chunkNumberOf(key) > 0 })
  const { wallet, errors } = watch()
  const before = (await wallet.balance()).lovelace
  const most = chunks - 1
  await until('they are asked for', async () => (await open()) >= most, 600_000)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  expect(await open()).toBe(most)

  await watched.pass(2n * period)
  await until('it is removed', async () => (await watched.queued()).length === 0)
  await until('no question is left', async () => (await open()) === 0, 600_000)
  const fees = BigInt(most) * 200_000n + 3_000_000n
  await until('the bonds are back', async () => (await wallet.balance()).lovelace > before - fees, 600_000)
  expect(errors).toEqual([])
})

test('behind a removal by proof, one question is ended, and the bonds of the others return', {
  timeout: 300_000,
}, async () => {
  const { watched, committed, watch, open, verdicts } = await openCounting(12)
  // It shows the first chunk, that there is no sixth, and all of the map.
  await openOperator(watched, committed, {
    async whenDue({ question: { kind, key } }, answer) {
      if (kind !== 'chunk' || [0, 5].includes(chunkNumberOf(key))) await answer()
    },
  })
  const { errors } = watch()
  await until('it is removed', async () => (await watched.queued()).length === 0)
  expect(await open()).toBeGreaterThan(3)
  expect(await verdicts()).toBe(0)
  await watched.pass(2n * period)
  await until('no question is left', async () => (await open()) === 0)
  expect(await verdicts()).toBe(1)
  expect(errors).toEqual([])
})

test('answers one after another are waited for: a question in a transaction of its own is dear', {
  timeout: 300_000,
}, async () => {
  const count = 40
  const watched = await openWatched({ contracts })
  const { transactions } = watched.story
  const bytes = framesOf(...transactions)
  const record = encodeChunkRecord({ first: 0, chunks: count, chunkHash: blake2b256(bytes) })
  const committed = blockOf(transactions, {
    entries(map) {
      for (let number = 0; number < count; number++) map.set(toHex(chunkKey(number)), record)
    },
  })
  const { entries: _, ...block } = (await watched.commit(committed)) as InvalidBlock & { entries?: unknown }
  const chunks = Array.from({ length: count }, () => bytes)
  const { answered } = await openOperator(
    watched,
    { ...committed, chunks },
    {
      async whenDue(_asked, answer) {
        await new Promise((resolve) => setTimeout(resolve, 300))
        await answer()
      },
    },
  )
  // It carries 19 questions at a time.
  const walletKeys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 9 })
  const funds = { address: walletKeys.addressText, lovelace: 60_000_000n }
  await watched.scene.run({ outputs: [funds] }, watched.scene.otherWallet)
  openWatcher(watched, [block], { walletKeys, withheld: { judge: async () => false }, patienceMs: 20_000 })
  const chunksOf = () => answered.filter(({ kind }) => kind === 'chunk').length
  await until('all are shown', async () => chunksOf() === count, 240_000)
  const [verdict] = (await watched.store.verdicts.list({ limit: 1 })).verdicts
  const asked = verdict!.transactions.filter(({ stage }) => stage === 'question').length
  console.log(`${asked} transactions with questions`)
  expect(asked).toBeLessThan(7)
})

test('absences, which strangers may ask for, let neither more nor less be asked', () => {
  const shown = { kind: 'shown', record: new Uint8Array(), bytes: new Uint8Array(), proof: [] } as const
  const chunks = new Map<number, ShownChunkAnswer>(Array.from({ length: 300 }, (_, n) => [n, shown]))
  expect(openAllowance([{ chunks }]).chunks).toBe(waveOf(0) + 300)
  for (let number = 1024; number < 3024; number++) chunks.set(number, { kind: 'absent', proof: [] })
  expect(openAllowance([{ chunks }]).chunks).toBe(waveOf(0) + 300)
})
