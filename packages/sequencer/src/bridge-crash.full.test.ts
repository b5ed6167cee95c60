import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { BytesSet, fromHex, toHex } from '@ratatosk/cbor'
import { keyAuthority, openWallet } from '@ratatosk/layer1'
import { decodeTransactionOutput, encodeBech32Address, type OutputReference } from '@ratatosk/ledger'
import type { WalletKeys } from '@ratatosk/ledger/builder'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { buildDeposit, readBridge } from '@ratatosk/protocol'
import { openStore, type Store } from '@ratatosk/store'
import {
  databaseUrl,
  fundsOf,
  generator,
  keyOf,
  pick,
  randomName,
  type SignedTransaction,
  signed,
} from '@ratatosk/test-kit'
import { removeTraces } from '@ratatosk/test-kit/vitest'
import { expect, type TestContext, test } from 'vitest'
import { openRoots } from './roots/index.js'
import { ada, leaving, payee, payoutFee, withBridge } from './settler/test/bridge-chain.js'
import { accept, acceptingAll } from './test/accept.js'
import { everythingMerged, until } from './test/agreement.js'
import { adoptionFrom, expectSameBlocks, serveBlocks } from './test/operators.js'
import { openProcesses, type Scene } from './test/processes.js'
import { openRollup } from './test/rollup.js'
import { administratorKeys, attackerKeys, bridgeTerms, userSeed } from './test/rollup-contracts.js'
import type { Step } from './types.js'

/** Each round draws from its own seed; `RATATOSK_BRIDGE_SEED` is the first. */
const rounds = Number(process.env.RATATOSK_BRIDGE_ROUNDS ?? 10)
const firstSeed = Number(process.env.RATATOSK_BRIDGE_SEED ?? 1)
/** Rounds until everything has to be credited, merged, paid and equal. */
const together = 10

const steps: readonly (Step | 'payout-built' | 'payout-sent')[] = [
  'roots-applied',
  'block-built',
  'commit-sent',
  'block-submitted',
  'block-committed',
  'block-mature',
  'merge-stored',
  'merge-sent',
  'block-merged',
  'payout-built',
  'payout-sent',
]

const key = keyOf(userSeed)
/** Of each output in the genesis of layer 2. */
const coin = 10n * ada

interface Deposited {
  readonly id: Uint8Array
  readonly lovelace: bigint
  /** On layer 1. */
  readonly transaction: Uint8Array
  /** The tip's when it was made. */
  readonly height: number
  isSpent: boolean
}

interface Given {
  readonly transaction: SignedTransaction
  /** The number of its withdrawal, and the lovelace that leaves. */
  readonly left?: { readonly number: number; readonly lovelace: bigint }
  readonly deposit?: Deposited
}

/** The users of a rollup, and what they know of it. */
function openUsers(scene: Scene) {
  const { store, layer1, devnet, contracts } = scene
  const { place } = withBridge(contracts).bridge
  const evaluator = createEvaluator({ threads: 1 })
  const wallet = (keys: WalletKeys) => openWallet({ layer1, keys, evaluator, withholdMs: 500 })
  const deposits: Deposited[] = []
  const given: Given[] = []
  const coins = fundsOf(key, 3 * rounds, coin).map(({ reference }) => reference)

  async function give(input: OutputReference, lovelace: bigint, leaves: bigint, deposit?: Deposited) {
    const number = given.length
    const outputs =
      leaves > 0n ? [leaving(leaves, payee(number).bytes, place), lovelace - leaves] : [lovelace]
    const transaction = signed(key, { inputs: [input], outputs })
    await accept(store, [transaction], place.script.hash)
    given.push({
      transaction,
      ...(leaves > 0n && { left: { number, lovelace: leaves } }),
      ...(deposit && { deposit }),
    })
  }

  return {
    evaluator,
    wallet,
    deposits,
    given,
    bridge: place,
    next: () => coins.shift()!,
    give,
    async deposit(lovelace: bigint): Promise<void> {
      const { height } = devnet.tip()
      const slots = await layer1.slots()
      const validUntil = (await layer1.currentSlot()) + 30n
      const own = wallet(administratorKeys)
      const { built, id } = await buildDeposit(own, contracts, {
        to: key.address,
        lovelace,
        validUntil,
        slots,
      })
      await own.submit(built)
      deposits.push({ id, lovelace, transaction: built.id, height, isSpent: false })
    },
    /** Spends a credited deposit on layer 2: one part leaves, the rest stays. */
    async spendDeposit(): Promise<void> {
      for (const deposit of deposits) {
        if (deposit.isSpent) continue
        const input = { transactionId: deposit.id, index: 0 }
        const [output] = await store.ledger.outputs([input])
        // One that was lost may have been made again of the same input, with another amount.
        if (output === undefined || decodeTransactionOutput(output).value.lovelace !== deposit.lovelace)
          continue
        // It may go away in between, with a roll-back.
        const isHere = await give(input, deposit.lovelace, 5n * ada, deposit).then(
          () => true,
          () => false,
        )
        deposit.isSpent = isHere
        if (isHere) return
      }
    },
    /** Deposits that layer 1 has, and transactions of layer 2 that follow from no other deposit. */
    async present() {
      const onLayer1: Deposited[] = []
      for (const deposit of deposits)
        if ((await layer1.status(deposit.transaction)).kind === 'confirmed') onLayer1.push(deposit)
      return { onLayer1, alive: given.filter(({ deposit }) => !deposit || onLayer1.includes(deposit)) }
    },
  }
}

/** Expects that each deposit is credited once, each withdrawal paid once, and all covered by the treasury. */
async function expectSettled(scene: Scene, users: ReturnType<typeof openUsers>, reserves: bigint) {
  const { store, layer1, contracts } = scene
  // Transactions that a roll-back undoes may wait to be included again.
  let present = await users.present()
  const paidTo = async (number: number) =>
    (await layer1.utxosAt(encodeBech32Address(payee(number)))).map(({ output }) => output.value.lovelace)
  const bridge = async () => readBridge(contracts, (await layer1.utxosAsOf(users.bridge.addressText)).utxos)
  const isCredited = async ({ id }: Deposited) => (await store.deposit(id))?.state === 'merged'
  let waits = ''
  const isSettled = async () => {
    present = await users.present()
    const credits = await Promise.all(present.onLayer1.map(isCredited))
    const { settlements } = await bridge()
    const left = {
      uncredited: credits.filter((credited) => !credited).length,
      unmerged: !(await everythingMerged(store)),
      settlements: settlements.length,
      mempool: scene.devnet.mempool().length,
    }
    waits = JSON.stringify(left)
    return Object.values(left).every((each) => !each)
  }
  await until(isSettled, 120_000).catch((error: unknown) => {
    throw new Error(`Not settled: ${waits}`, { cause: error })
  })
  const { onLayer1, alive } = present
  const left = alive.flatMap(({ left }) => left ?? [])
  const blocks = await store.blocks.range(1n, 100_000n)
  const credited = await Promise.all(blocks.map(({ headerHash }) => store.blocks.depositsOf(headerHash)))
  const sorted = (ids: readonly Uint8Array[]) => ids.map(toHex).sort()
  expect(sorted(credited.flat().map(({ id }) => id))).toEqual(sorted(onLayer1.map(({ id }) => id)))
  for (const { number, lovelace } of left)
    expect(await paidTo(number), `withdrawal ${number}`).toEqual([lovelace - payoutFee])
  const paidNumbers = new Set(left.map(({ number }) => number))
  for (const { left } of users.given)
    if (left && !paidNumbers.has(left.number)) expect(await paidTo(left.number)).toEqual([])
  const sum = (amounts: readonly { readonly lovelace: bigint }[]) =>
    amounts.reduce((total, { lovelace }) => total + lovelace, 0n)
  const state = await bridge()
  const held = [...state.reserves, ...state.deposits.map(({ utxo }) => utxo)]
  // A payer tops up a reserve of which too little is left.
  const toppedUp = sum(held.map(({ output }) => output.value)) - (reserves + sum(onLayer1) - sum(left))
  expect(toppedUp).toBeGreaterThanOrEqual(0n)
  expect(toppedUp).toBeLessThan(bridgeTerms.reserveMin * BigInt(1 + left.length))
  return { onLayer1, left, alive }
}

/** A node that adopts the blocks, with a store of its own. */
async function openAdopter(context: TestContext, scene: Scene, users: ReturnType<typeof openUsers>) {
  const { layer1, contracts } = scene
  const name = randomName()
  const store: Store = await openStore({ url: databaseUrl, schema: name })
  context.onTestFinished(async () => {
    await store.close()
    await removeTraces(name)
  })
  const bridge = users.bridge.script.hash
  const url = await serveBlocks(context, scene.store, bridge)
  await openRollup(context, store, layer1, {
    contracts,
    roots: await openRoots({ bridge }),
    submissions: acceptingAll(store, bridge),
    genesis: fundsOf(key, 3 * rounds, coin),
    operator: users.wallet(attackerKeys),
    administrator: {
      wallet: users.wallet(administratorKeys),
      authority: keyAuthority(administratorKeys.payment),
    },
    adoption: await adoptionFrom(context, layer1, [url], bridge),
    pollMs: 50,
  })
  return { store, name }
}

test(`killed at a step of ${rounds} bridged blocks, with roll-backs, all is credited and paid once`, {
  timeout: 120_000 + rounds * 30_000,
}, async (context) => {
  const scene = await openProcesses(context, 3 * rounds, 1500, 'bridge')
  const { store, devnet, layer1, start, agree } = scene
  const users = openUsers(scene)
  context.onTestFinished(() => users.evaluator.close())
  let next = 0
  let active = await start(next++)
  let standby = start(next++)
  await active.working
  await until(async () => (await store.changes.genesisOutputs()) === 3 * rounds)
  const reserves = coin * BigInt(3 * rounds)
  const own = users.wallet(administratorKeys)
  const outputs = [0, 1, 2].map(() => ({ address: users.bridge.address, lovelace: reserves / 3n }))
  await layer1.await((await own.send({ outputs })).id)
  const adopter = await openAdopter(context, scene, users)
  await sleep(2000)
  // No roll-back takes what begins the rollup.
  const floor = devnet.tip().height

  const counts = { killed: {} as Record<string, number>, rolledBack: 0, lost: 0 }
  let settled: Awaited<ReturnType<typeof expectSettled>> | undefined
  for (let round = 0; round < rounds; round++) {
    const random = generator(firstSeed + round)
    const below = (limit: number) => Math.floor(random() * limit)
    const lovelace = 20n * ada + BigInt(below(1_000_000))
    const step = pick(random, steps)
    const kind = pick(random, ['none', 'shallow', 'with a deposit'] as const)
    const rollBack = async () => {
      const deposit = users.deposits.at(-1 - below(2))
      const { height } = devnet.tip()
      const wanted = kind === 'shallow' ? 1 + below(5) : height - (deposit?.height ?? height)
      const depth = Math.min(wanted, height - floor)
      if (kind === 'none' || depth <= 0) return
      counts.rolledBack++
      await devnet.rollBack(depth, { resubmit: random() < 0.5 })
    }
    await users.deposit(lovelace)
    await users.give(users.next(), coin, 0n)
    await users.give(users.next(), coin, 3n * ada + BigInt(below(1_000_000)))
    await users.spendDeposit()
    const exit = once(active.child, 'exit')
    active.child.send(step)
    if (below(2) === 0) await rollBack()
    const isKilled = await Promise.race([exit.then(() => true), sleep(15_000, false)])
    const at = isKilled ? step : 'any'
    counts.killed[at] = (counts.killed[at] ?? 0) + 1
    if (!isKilled) active.child.kill('SIGKILL')
    expect((await exit)[1]).toBe('SIGKILL')
    if (below(2) === 0) await rollBack()
    active = await standby
    standby = start(next++)
    await active.working
    if (round % together !== together - 1 && round !== rounds - 1) continue
    settled = await expectSettled(scene, users, reserves)
    await expectSameBlocks([scene, adopter])
    counts.lost = users.deposits.length - settled.onLayer1.length
    console.log(
      `seeds ${firstSeed} to ${firstSeed + round}: ${settled.onLayer1.length} deposits credited, ` +
        `${settled.left.length} withdrawals paid; ${JSON.stringify(counts)}`,
    )
  }
  const last = await standby
  for (const { child } of [active, last]) {
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }
  const ids = new BytesSet(settled!.alive.map(({ transaction }) => fromHex(transaction.id)))
  await agree(
    next - 2,
    users.given.map(({ transaction }) => transaction).filter(({ id }) => ids.has(fromHex(id))),
  )
})
