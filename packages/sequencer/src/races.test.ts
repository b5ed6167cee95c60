import { setTimeout as sleep } from 'node:timers/promises'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { endOfTurn, operatorInTurn } from '@ratatosk/contracts'
import { type Layer1, Layer1Error, openWallet } from '@ratatosk/layer1'
import { createSubmissionQueue, type SubmissionQueue } from '@ratatosk/queue'
import {
  freeOfCharge,
  fundsOf,
  generator,
  type LedgerEntry,
  outputsOf,
  pick,
  type Random,
  type SignedTransaction,
  signed,
} from '@ratatosk/test-kit'
import { createValidationWorker, reopenDeadLetters } from '@ratatosk/workers'
import { expect, type TestContext, test } from 'vitest'
import { everythingMerged, expectAgreement, until } from './test/agreement.js'
import { attackerKeys, readOperators, registerAttacker } from './test/attacker.js'
import {
  expectSameLedgers,
  idsInBlocks,
  openOperator,
  openStores,
  type TestOperator,
} from './test/operators.js'
import { contracts, evaluator, openChain, type TestChain, user } from './test/rollup.js'
import { operatorKeys, thirdKeys } from './test/rollup-contracts.js'

const { turnLength } = contracts.parameters

/** An operator whose node validates what it is sent. */
interface Racer extends TestOperator {
  readonly layer1: UncertainLayer1
  readonly submissions: SubmissionQueue
}

interface RaceScene {
  readonly chain: TestChain
  readonly genesis: readonly LedgerEntry[]
  /** Two operators. A third one is registered and absent. */
  readonly racers: readonly [Racer, Racer]
  /** Height of layer 1 to which it is never rolled back. */
  readonly settled: number
}

/** @param outputs how many the genesis has */
async function openRaceScene(context: TestContext, outputs: number): Promise<RaceScene> {
  const genesis = fundsOf(user, outputs, 10_000_000n)
  const chain = await openChain(context)
  const { layer1, clock, devnet } = chain
  const stop = chain.keepMining()
  context.onTestFinished(stop)
  const stores = await openStores(context, 3)
  const absent = await openOperator(context, layer1, stores, 2, { genesis })
  const begun = await absent.sequencer.run('init')
  if (begun.kind !== 'initiated') throw new Error(`init: ${JSON.stringify(begun)}`)
  await absent.sequencer.close()
  const slots = await layer1.slots()
  const racers: Racer[] = []
  for (const [own, keys] of [attackerKeys, thirdKeys].entries()) {
    await registerAttacker(chain, contracts, keys)
    const { store, queue, name } = stores[own]!
    const lagging = uncertainLayer1(layer1)
    const submissions = createSubmissionQueue(queue)
    const rules = { parameters: freeOfCharge, networkId: 0, slots }
    const worker = createValidationWorker({ queue, store, ...rules, now: () => clock.time, batchWaitMs: 5 })
    context.onTestFinished(() => worker.close())
    const operator = openWallet({ layer1: lagging, keys, evaluator, withholdMs: 50 })
    const opened = await openOperator(context, lagging, stores.slice(0, 2), own, {
      operator,
      genesis,
      submissions,
    })
    await until(async () => opened.sequencer.snapshot().rootUnit !== '')
    await opened.store.applyGenesis(genesis)
    racers.push({ ...opened, store, name, layer1: lagging, submissions })
  }
  await until(async () => {
    const { datum } = await readOperators(layer1)
    await chain.nextTurn()
    return datum.operators.every(({ activeFrom }) => activeFrom <= BigInt(clock.time))
  })
  await stop()
  return {
    chain,
    genesis,
    racers: racers as unknown as readonly [Racer, Racer],
    settled: devnet.tip().height,
  }
}

/** Goes to a turn of one of the three, and some seconds into it. */
async function toTurnOf({ chain }: RaceScene, vkey: Uint8Array, seconds: number): Promise<void> {
  const { datum } = await readOperators(chain.layer1)
  const { clock } = chain
  do clock.time = Number(endOfTurn(BigInt(clock.time), turnLength))
  while (!equalBytes(operatorInTurn(datum, BigInt(clock.time), turnLength)?.vkey ?? new Uint8Array(), vkey))
  clock.time += seconds * 1000
  await chain.devnet.produceBlock()
}

/** Lets both operators commit while layer 1 answers late, loses transactions and rolls back, by a seed. */
async function race(scene: RaceScene, seed: number, submit: () => Promise<unknown>): Promise<void> {
  const { chain, racers, settled } = scene
  const { devnet } = chain
  const random = generator(seed)
  const keys = pick(random, [operatorKeys, attackerKeys, thirdKeys])
  // After 15 s, operators that are not in turn take over.
  await toTurnOf(scene, keys.payment.hash, Math.floor(random() * 40))
  for (const [place, { layer1 }] of racers.entries()) layer1.begin(2 * seed + place)
  const submitted = submit()
  const rounds = 5 + Math.floor(random() * 20)
  for (let round = 0; round < rounds; round++) {
    await sleep(random() * 25)
    const [one, other] = random() < 0.5 ? racers : [racers[1], racers[0]]
    const action = random()
    if (action < 0.1) one.layer1.blind()
    else if (action < 0.3) other.layer1.see()
    else if (action < 0.37) {
      const depth = Math.min(1 + Math.floor(random() * 8), devnet.tip().height - settled)
      if (depth > 0) await devnet.rollBack(depth, { resubmit: random() < 0.4 })
    } else if (action < 0.8) await chain.mine(1 + Math.floor(random() * 2))
  }
  for (const { layer1 } of racers) layer1.calm()
  await submitted
}

/** Layer 1 goes on, and jumps when it has nothing to include, until a condition holds. */
async function settle({ chain, racers }: RaceScene, holds: () => Promise<boolean>): Promise<void> {
  const { devnet, clock } = chain
  let idle = 0
  await until(async () => {
    idle = devnet.mempool().length > 0 ? 0 : idle + 1
    if (idle === 0) await chain.mine()
    else if (idle % 12 === 0) {
      clock.time += 8_000
      await devnet.produceBlock()
    }
    for (const { store, submissions, name } of idle % 12 === 6 ? racers : [])
      await reopenDeadLetters({ store, submissions, holder: name })
    return holds()
  }, 120_000)
}

/** A layer 1 whose answers come late, as they were when it was asked or later, and which may lose commits. */
interface UncertainLayer1 extends Layer1 {
  /** Draws how late answers come, and what happens to transactions that are sent. */
  begin(seed: number): void
  /** Holds answers back until {@link UncertainLayer1.see}. */
  blind(): void
  see(): void
  /** Answers at once from now on. */
  calm(): void
}

const reads = [
  ...(['utxosAt', 'utxosAsOf', 'utxosByUnit', 'utxosByPolicy', 'utxosByReferences'] as const),
  ...(['spending', 'tip'] as const),
]

/** Milliseconds that answers are late at most. */
const latencies = [0, 0, 2, 8, 25]

function uncertainLayer1(layer1: Layer1): UncertainLayer1 {
  let random: Random = generator(0)
  let latency = 0
  /** How often a transaction that is sent arrives late, or never, and the sender hears nothing. */
  let loss = 0
  let gate = Promise.resolve()
  let open: (() => void) | undefined
  function see(): void {
    open?.()
    open = undefined
  }
  const late = () => (latency === 0 ? undefined : sleep(random() * latency))

  async function submit(...asked: Parameters<Layer1['submit']>): ReturnType<Layer1['submit']> {
    await gate
    await late()
    if (random() >= loss) return layer1.submit(...asked)
    const [cbor] = asked
    // Layer 1 may refuse it then, which its sender does not hear.
    if (random() < 0.5) void sleep(random() * 120).then(() => layer1.submit(cbor).catch(() => undefined))
    throw new Layer1Error('LAYER1_TIMEOUT', 'The answer was lost', { mayHaveEffect: true })
  }

  return {
    ...layer1,
    ...Object.fromEntries(
      reads.map((name) => [
        name,
        async (...asked: unknown[]) => {
          await late()
          const answer = await (layer1[name] as (...given: unknown[]) => Promise<unknown>)(...asked)
          await gate
          await late()
          return answer
        },
      ]),
    ),
    submit,
    begin(seed) {
      random = generator(seed)
      latency = pick(random, latencies)
      loss = pick(random, [0, 0, 0.2, 0.5])
    },
    blind() {
      if (open !== undefined) return
      gate = new Promise((resolve) => {
        open = resolve
      })
    },
    see,
    calm() {
      latency = 0
      loss = 0
      see()
    },
  }
}

const seeds = Number(process.env.RATATOSK_RACES ?? 1)
/** The first seed: a run can go on where another one ended. */
const from = Number(process.env.RATATOSK_RACES_FROM ?? 1)
/** Seeds that share one layer 1, which begins anew for the next ones. */
const perScene = 25
/** Outputs of the genesis that a seed spends. */
const perSeed = 8

/** To which of two operators transactions are submitted. */
interface Given {
  readonly to: readonly number[]
  readonly chain: readonly SignedTransaction[]
}

interface Submitted {
  readonly given: readonly Given[]
  /** Pairs of chains of which only one can be valid; the first is given to the first operator. */
  readonly pairs: readonly (readonly [Given, Given])[]
}

/** The submissions of a seed: to one operator, to both, and to each the rival of the other's transaction. */
function submissionsOf({ genesis }: RaceScene, seed: number, place: number): Submitted {
  const random = generator(seed + 1_000_000)
  const coins = genesis.slice(place * perSeed, (place + 1) * perSeed).map(({ reference }) => reference)
  const chainOf = (coin: (typeof coins)[number], length: number, fee = 0n): SignedTransaction[] => {
    const first = signed(user, { inputs: [coin], outputs: [10_000_000n - fee], fee })
    return length < 2
      ? [first]
      : [first, signed(user, { inputs: [outputsOf(first)], outputs: [10_000_000n - fee] })]
  }
  const given: Given[] = []
  const pairs: [Given, Given][] = []
  for (const coin of coins.slice(0, 3 + Math.floor(random() * (perSeed - 3)))) {
    const length = 1 + Math.floor(random() * 2)
    const kind = pick(random, ['one', 'other', 'both', 'rivals'])
    if (kind === 'rivals') {
      const other = 1 + Math.floor(random() * 2)
      pairs.push([
        { to: [0], chain: chainOf(coin, length) },
        { to: [1], chain: chainOf(coin, other, 1n) },
      ])
    } else {
      const to = kind === 'both' ? [0, 1] : [kind === 'one' ? 0 : 1]
      given.push({ to, chain: chainOf(coin, length) })
    }
  }
  return { given, pairs }
}

const scenes = Array.from({ length: Math.ceil(seeds / perScene) }, (_, n) => from + n * perScene)

test.for(scenes)(
  'operators that commit at once lose and repeat no transaction: seeds from %i on',
  {
    timeout: 120_000 + perScene * 120_000,
  },
  async (first, context) => {
    const count = Math.min(perScene, from + seeds - first)
    const scene = await openRaceScene(context, count * perSeed)
    const { chain, racers } = scene
    const submitted: Submitted[] = []

    for (let place = 0; place < count; place++) {
      const seed = first + place
      try {
        await runSeed(seed, place)
      } catch (error) {
        throw new Error(`seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`)
      }
    }

    async function runSeed(seed: number, place: number): Promise<void> {
      const { given, pairs } = submissionsOf(scene, seed, place)
      submitted.push({ given, pairs })
      const all = [...given, ...pairs.flat()]
      await race(scene, seed, () =>
        Promise.all(
          all.flatMap(({ to, chain: transactions }) =>
            to.map(async (at) => {
              for (const { cbor } of transactions) await racers[at]!.submissions.add(cbor)
            }),
          ),
        ),
      )
      const outcome = async () => {
        const [one = [], two = []] = await Promise.all(racers.map(({ store }) => idsInBlocks(store)))
        const places = [new Set(one), new Set(two)] as const
        const isPlaced = ({ chain: transactions }: Given) =>
          transactions.every(({ id }) => places.every((ids) => ids.has(id)))
        const losers = pairs.flatMap((pair) => pair.filter((each) => !isPlaced(each)))
        return { one, two, isPlaced, losers }
      }
      await settle(scene, async () => {
        for (const { store } of racers) if ((await store.blocks.waiting(1)) > 0) return false
        const { one, two, isPlaced, losers } = await outcome()
        if (one.join() !== two.join() || !given.every(isPlaced) || losers.length > pairs.length) return false
        // Validation may not have come to the loser yet.
        for (const { to, chain: transactions } of losers)
          for (const { id } of transactions)
            if ((await letterOf(racers[to[0]!]!, id)) === undefined) return false
        return true
      })
      const { one, losers } = await outcome()
      expect(new Set(one).size).toBe(one.length)
      expect(losers).toHaveLength(pairs.length)
      for (const { to, chain: transactions } of losers)
        for (const { id } of transactions) {
          expect(one).not.toContain(id)
          expect((await letterOf(racers[to[0]!]!, id))?.code).toMatch(/^(ConflictsWithBlock|BadInputsUTxO)$/)
        }
    }

    await settle(scene, async () => {
      for (const { store } of racers) if (!(await everythingMerged(store))) return false
      return true
    })
    // Which of a pair is merged may have changed with a later seed's roll-back.
    const ids = await idsInBlocks(racers[0].store)
    const idsOf = ({ chain: transactions }: Given) => transactions.map(({ id }) => id)
    const isMerged = (each: Given) => idsOf(each).some((id) => ids.includes(id))
    const wanted = submitted.flatMap(({ given, pairs }) => {
      for (const pair of pairs) expect(pair.filter(isMerged)).toHaveLength(1)
      return [...given, ...pairs.flat().filter(isMerged)]
    })
    expect(ids.toSorted()).toEqual(wanted.flatMap(idsOf).toSorted())
    const known = new Map(wanted.flatMap((each) => each.chain).map((each) => [each.id, each]))
    const order = ids.map((id) => known.get(id)!)
    for (const { store, roots } of racers) await expectAgreement(store, chain.layer1, roots, order)
    await expectSameLedgers(racers)
    if (seeds > perScene) console.log(JSON.stringify({ first, count, blocks: await blocksOf(scene) }))
  },
)

/** The newest dead letter of a transaction. */
const letterOf = async ({ store }: Racer, id: string) =>
  (await store.rejections.list({ limit: 1000 })).find(
    ({ transactionId }) => transactionId !== undefined && toHex(transactionId) === id,
  )

/** How many blocks each operator has in the queue, and how many gave way. */
async function blocksOf({ racers }: RaceScene) {
  const counted = racers.map(async ({ store, name }) => {
    const { rows } = await store.database.run(
      `SELECT state::text, commit_transaction IS NULL AS adopted, count(*)::integer AS blocks
      FROM ${name}.blocks GROUP BY state, adopted ORDER BY state, adopted`,
      [],
    )
    return rows
  })
  return Promise.all(counted)
}
