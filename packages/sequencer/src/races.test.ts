import { toHex } from '@ratatosk/cbor'
import { generator, outputsOf, pick, type SignedTransaction, signed } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import { everythingMerged, expectAgreement } from './test/agreement.js'
import { expectSameLedgers, idsInBlocks } from './test/operators.js'
import { openRaceScene, type Racer, type RaceScene, race, settle } from './test/race.js'
import { user } from './test/rollup.js'

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
