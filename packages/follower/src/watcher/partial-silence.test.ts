import { chunkKey, encodeChunkRecord, maxChunks } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { testWallets } from '@ratatosk/devnet'
import { blake2b256, encodeBech32Address, keyAddress } from '@ratatosk/ledger'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import {
  askQuestions,
  endQuestion,
  openContracts,
  pruneBlocks,
  readQuestions,
  registerOperator,
} from '@ratatosk/protocol'
import { encodeAsk, encodeExpiry, type ShownChunkAnswer } from '@ratatosk/protocol/fraud'
import { openStore } from '@ratatosk/store'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { blockOf, framesOf } from '../../../protocol/dist/fraud/test/lying-blocks.js'
import {
  begin,
  bond,
  commitInTurn,
  summonsContracts as contracts,
  lovelaceOf,
  openScene,
  keys as operatorKeys,
  otherKeys,
  prove,
  root,
  summonsContracts,
} from '../../../protocol/dist/test/protocol-scene.js'
import type { InvalidBlock } from '../index.js'
import { chunkNumberOf } from './context.js'
import { openAllowance, waveOf } from './questions.js'
import {
  isRemoved,
  keys,
  newest,
  openOperator,
  openWatched,
  openWatcher,
  until,
  type Watched,
} from './test/scene.js'
import { chunkQuestion } from './unavailable.js'

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
  const verdict = await newest(watched)
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

test.each([maxChunks + 1, 2 ** 53 - 1])(
  'asks for no other chunk of a block that counts %i of them',
  { timeout: 120_000 },
  async (count) => {
    const watched = await openWatched({ contracts })
    const { transactions } = watched.story
    const chunkHash = blake2b256(framesOf(...transactions))
    const committed = blockOf(transactions, {
      entries: (map) =>
        map.set(toHex(chunkKey(0)), encodeChunkRecord({ first: 0, chunks: count, chunkHash })),
    })
    const { entries: _, ...block } = (await watched.commit(committed)) as InvalidBlock & { entries?: unknown }
    const { answered } = await openOperator(watched, committed)
    const withheld = { judge: async () => false }
    const { errors } = openWatcher(watched, [block], { withheld, patienceMs: 20_000 })
    await until('it is removed', () => isRemoved(watched))
    expect(await newest(watched)).toMatchObject({ proof: { policy: 'ledger', fraud: 'strangeEntry' } })
    expect(answered.filter(({ kind }) => kind === 'chunk').map(({ key }) => toHex(key))).toEqual(['00000000'])
    expect(errors).toEqual([])
  },
)

describe('long body', () => {
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
    const verdict = await newest({ store })
    expect(toHex(verdict!.block.headerHash)).toBe(toHex(block.headerHash))
    for (const { errors } of watchers) expect(errors).toEqual([])
  })
})

const penalty = 50_000_000n
const behind = 10

test('ten honest blocks behind a silent one cost their operator the fees, and the silent one the penalty', {
  timeout: 120_000,
}, async () => {
  const contracts = openContracts({ ...summonsContracts.parameters, slashPenalty: penalty }, 0)
  const scene = await openScene(contracts)
  onTestFinished(() => scene.devnet.close())
  const { run, wallet, otherWallet, queue, registry, validity, slots, devnet, clock, layer1 } = scene
  const scripts = await begin(scene, true)
  const other = otherKeys.payment
  await run(registerOperator(contracts, await registry(), other.hash, validity(), scripts), wallet, [other])
  /** Refunds go to the address of a key alone. */
  const all = async ({ address, payment }: typeof operatorKeys) => {
    const addresses = new Set([address, keyAddress(payment.hash, 0)].map(encodeBech32Address))
    const utxos = await Promise.all([...addresses].map((each) => layer1.utxosAt(each)))
    return utxos.flat().reduce((sum, utxo) => sum + lovelaceOf(utxo), 0n)
  }
  const ada = async () => ({
    silent: await all(operatorKeys),
    honest: await all(otherKeys),
    registry: lovelaceOf((await registry()).utxo),
    root: lovelaceOf((await queue()).roots[0]!.utxo),
  })
  const before = await ada()

  const { header, headerHash, built } = await commitInTurn(scene, scripts, { transactionsRoot: root(7) })
  const alone = lovelaceOf((await queue()).blocks[0]!.utxo)
  const wanted = chunkQuestion(header.transactionsRoot, 0)
  const { steps, ...subject } = wanted
  const question = { ...subject, headerHash, refund: operatorKeys.payment.hash }
  const validUntil = devnet.currentSlot() + 60n
  const redeemer = () => encodeAsk(header, [steps])
  const asking = { questions: [question], redeemer, validUntil, slots }
  const asked = await run(askQuestions(contracts, asking))
  const [open] = readQuestions(contracts, asked.produced)
  let honestFees = 0n
  for (let count = 0; count < behind; count++)
    honestFees += (await commitInTurn(scene, scripts, { operatorVkey: other.hash }, otherWallet)).built.fee

  // The silent operator takes everything that can be taken: verdict, bond, and the pruning.
  clock.time = Math.max(clock.time, Number(open!.question.deadline) + 1000)
  await devnet.produceBlock()
  const ended = await run(endQuestion(contracts, open!, encodeExpiry(0), slots))
  const verdict = ended.produced.find(({ output }) => output.value.assets.size > 0)!
  const linked = lovelaceOf((await queue()).blocks[0]!.utxo)
  const removed = await prove(scene, headerHash, { kind: 'held', utxo: verdict }, scripts, wallet)
  expect(removed.gain).toBe(bond + linked - penalty)
  const stale = await queue()
  expect(stale.blocks).toHaveLength(behind)
  const pruned = await run(pruneBlocks(contracts, stale, scripts))
  expect(
    pruned.produced.slice(1, 1 + behind).map((utxo) => [lovelaceOf(utxo), utxo.output.address.bytes]),
  ).toEqual(stale.blocks.map(({ utxo }) => [lovelaceOf(utxo), keyAddress(other.hash, 0).bytes]))
  expect((await queue()).blocks).toEqual([])

  const after = await ada()
  // A link takes room in the element before it.
  const room = linked - alone
  const kept = after.root - before.root
  expect(before.honest - after.honest).toBe(honestFees + room)
  expect(after.registry - before.registry).toBe(penalty - bond)
  const fees = built.fee + asked.fee + ended.fee + removed.built.fee + pruned.fee
  const loss = before.silent + bond - after.silent
  expect(loss).toBe(penalty + fees + lovelaceOf(verdict) + kept - room)
  expect(loss).toBeGreaterThan(2n * (before.honest - after.honest))
})
