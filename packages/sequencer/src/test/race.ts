import { setTimeout as sleep } from 'node:timers/promises'
import { equalBytes } from '@ratatosk/cbor'
import { endOfTurn, operatorInTurn } from '@ratatosk/contracts'
import { type Layer1, Layer1Error, openWallet } from '@ratatosk/layer1'
import { createSubmissionQueue, type SubmissionQueue } from '@ratatosk/queue'
import { freeOfCharge, fundsOf, generator, type LedgerEntry, pick, type Random } from '@ratatosk/test-kit'
import { createValidationWorker, reopenDeadLetters } from '@ratatosk/workers'
import type { TestContext } from 'vitest'
import { until } from './agreement.js'
import { attackerKeys, readOperators, registerAttacker } from './attacker.js'
import { thirdKeys } from './attacker-keys.js'
import { openOperator, openStores, type TestOperator } from './operators.js'
import { contracts, evaluator, openChain, type TestChain, user } from './rollup.js'
import { operatorKeys } from './rollup-contracts.js'

const { turnLength } = contracts.parameters

/** An operator whose node validates what it is sent. */
export interface Racer extends TestOperator {
  readonly layer1: UncertainLayer1
  readonly submissions: SubmissionQueue
}

export interface RaceScene {
  readonly chain: TestChain
  readonly genesis: readonly LedgerEntry[]
  /** Two operators. A third one is registered and absent. */
  readonly racers: readonly [Racer, Racer]
  /** Height of layer 1 to which it is never rolled back. */
  readonly settled: number
}

/** @param outputs how many the genesis has */
export async function openRaceScene(context: TestContext, outputs: number): Promise<RaceScene> {
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
export async function race(scene: RaceScene, seed: number, submit: () => Promise<unknown>): Promise<void> {
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
export async function settle({ chain, racers }: RaceScene, holds: () => Promise<boolean>): Promise<void> {
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
