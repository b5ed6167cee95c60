import { createSubmissionQueue } from '@ratatosk/queue'
import { describe, expect, it, type TestContext } from 'vitest'
import { openers } from '../test/running-worker.js'
import { endow, join, layer1Of, layer2Of, openDevnet, pay, validate } from './test/scene.js'
import { ada, claimant, faucetKeys } from './test/wallets.js'

const minute = 60_000
const noon = Date.UTC(2026, 10, 21, 12)

const code = (name: string) => ({ body: { code: name } })
const internal = { status: 500, body: { error: 'Something went wrong', code: 'INTERNAL' } }
const rejected = {
  status: 500,
  body: {
    error: 'The funding transaction was not valid; try again with the same idempotencyKey',
    code: 'VALIDATION_FAILED',
  },
}

/** A faucet on a devnet whose clock the test controls. */
async function openLayer1(context: TestContext, funds = [5000n * ada]) {
  const clock = { time: noon, now: () => clock.time }
  const services = await openers['PostgreSQL and Redis'](context)
  const devnet = await openDevnet({ funds, clock })
  const scene = await join({ services, layer: layer1Of(devnet), settings: { now: clock.now } })
  const always = Number.POSITIVE_INFINITY
  return {
    ...scene,
    devnet,
    /** Advances the clock, then produces a block. */
    async pass(milliseconds: number) {
      clock.time += milliseconds
      await devnet.produceBlock()
    },
    /** Makes submissions and later look-ups fail. */
    loseAnswers(kind: 'lost-answer' | 'time-out') {
      devnet.faults.inject({ kind, operation: 'submit', times: always })
      devnet.faults.inject({ kind: 'refusal', operation: 'transaction', times: always })
    },
  }
}

describe('on layer 1', () => {
  it('answers VALIDATION_FAILED to a rejected payment; the same key succeeds later', async (context) => {
    const scene = await openLayer1(context)
    // This payment stays in the mempool, where the faucet does not see it.
    await pay(scene.layer.wallet(faucetKeys), claimant(9), 10n * ada)
    expect(await scene.claim(1)).toEqual(rejected)
    expect(await scene.claim(1, { key: 'another' })).toEqual(rejected)
    await scene.devnet.produceBlock()
    const paid = await scene.claim(1)
    expect(paid.status).toBe(200)
    expect(await scene.claim(1)).toEqual(paid)
    expect(await scene.claim(1, { key: 'another' })).toMatchObject(code('COOLDOWN'))
    expect(await scene.paidTo(1)).toEqual([100n * ada])
  })

  it('answers INTERNAL while the network is unavailable without using up the cool-down', async (context) => {
    const scene = await openLayer1(context)
    scene.devnet.faults.inject({ kind: 'refusal', times: Number.POSITIVE_INFINITY })
    expect(await scene.claim(1)).toEqual(internal)
    scene.devnet.faults.clear()
    scene.devnet.faults.inject({ kind: 'rate-limit', operation: 'submit', times: Number.POSITIVE_INFINITY })
    expect(await scene.claim(1)).toEqual(internal)
    scene.devnet.faults.clear()
    expect((await scene.claim(1, { key: 'another' })).status).toBe(200)
    expect(await scene.claim(1)).toMatchObject(code('COOLDOWN'))
    expect(await scene.paidTo(1)).toEqual([100n * ada])
  })

  it.for(['lost-answer', 'time-out'] as const)(
    'builds no second payment while it is unknown whether the first arrived (%s)',
    async (kind, context) => {
      const scene = await openLayer1(context)
      scene.loseAnswers(kind)
      expect(await scene.claim(1)).toEqual(internal)
      expect(await scene.claim(1, { key: 'another' })).toMatchObject(code('COOLDOWN'))
      expect(await scene.claim(1)).toEqual(internal)
      scene.devnet.faults.clear()
      const paid = await scene.claim(1)
      expect(paid.status).toBe(200)
      expect(await scene.claim(1, { key: 'another' })).toMatchObject(code('COOLDOWN'))
      expect(await scene.paidTo(1)).toEqual([100n * ada])
      expect(scene.devnet.transaction(paid.body.txHash!)).toHaveProperty('place')
    },
  )

  it('sends a payment again that the chain has lost', async (context) => {
    const scene = await openLayer1(context)
    const paid = await scene.claim(1)
    await scene.pass(minute)
    await scene.devnet.rollBack(1)
    expect(scene.devnet.status(paid.body.txHash!)).toMatchObject({ status: 'unknown' })
    expect(await scene.payer.settle()).toBe(1)
    await scene.pass(minute)
    expect(scene.devnet.status(paid.body.txHash!)).toMatchObject({ status: 'confirmed' })
    expect(await scene.payer.settle()).toBe(1)
    await scene.pass(2 * minute)
    expect(await scene.payer.settle()).toBe(0)
    expect(await scene.claim(1)).toEqual(paid)
    expect(await scene.paidTo(1)).toEqual([100n * ada])
  })

  it.for(['accepted', 'lost-answer', 'time-out'] as const)(
    'a payment that is never included (%s) uses up neither cool-down nor limit',
    async (kind, context) => {
      const numbers = [1, 2, 3, 4, 5]
      const scene = await openLayer1(
        context,
        numbers.map(() => 5000n * ada),
      )
      if (kind !== 'accepted') scene.loseAnswers(kind)
      for (const n of numbers) await scene.claim(n, { ip: 'shared' })
      scene.devnet.faults.clear()
      // The chain loses the payments that it accepted and continues until they have expired.
      await scene.devnet.produceBlock()
      await scene.devnet.rollBack(1)
      expect(await scene.claim(6, { ip: 'shared' })).toMatchObject(code('IP_LIMIT'))
      expect(await scene.claim(1, { key: 'another' })).toMatchObject(code('COOLDOWN'))
      await scene.pass(16 * minute)

      expect((await scene.claim(6, { ip: 'shared' })).status).toBe(200)
      expect((await scene.claim(1, { key: 'another', ip: 'shared' })).status).toBe(200)
      expect(await scene.claim(1)).toMatchObject(code('COOLDOWN'))
      expect((await scene.claim(2, { ip: 'shared' })).status).toBe(200)
      for (const n of [1, 2, 6]) expect(await scene.paidTo(n)).toEqual([100n * ada])
      for (const n of [3, 4, 5]) expect(await scene.paidTo(n)).toEqual([])
    },
  )

  it('a recorded payment holds its output until a waiting claim sends the payment', async (context) => {
    const scene = await openLayer1(context)
    const { faucetClaims } = scene.services.store
    const reservation = await faucetClaims.reserve({
      idempotencyKey: 'key of a dead process',
      address: claimant(1).address.bytes,
      ipHash: 'ip',
      amount: 100n * ada,
      now: new Date(noon),
      cooldownMs: 60 * minute,
      dailyIpLimit: 5,
      leaseMs: 60 * minute,
    })
    if (reservation.kind !== 'held') throw new Error(reservation.kind)
    const draft = { address: claimant(1).address.bytes, lovelace: 100n * ada, minBalance: 0n, underWay: [] }
    const preparation = await scene.wallet.prepare(draft)
    if (preparation.kind !== 'prepared') throw new Error(preparation.kind)
    await faucetClaims.keep(reservation.claim, preparation.payment, preparation.spends)

    const waiting = scene.claim(2)
    await faucetClaims.conclude(reservation.claim, 'undecided')
    expect((await waiting).status).toBe(200)
    for (const n of [1, 2]) expect(await scene.paidTo(n)).toEqual([100n * ada])
  })
})

describe('on layer 2', () => {
  async function openLayer2(context: TestContext) {
    const services = await openers['PostgreSQL and Redis'](context)
    await endow(services, [5000n * ada])
    const submissions = createSubmissionQueue(services.queue)
    const layer = layer2Of({ ...services, submissions }, { verdictMs: 2000 })
    const scene = await join({ services, layer })
    const waiting = () => submissions.jobs.getJobCountByTypes('waiting')
    const startValidation = () => validate(services).worker.ready()
    return { ...scene, submissions, waiting, startValidation }
  }

  it('answers VALIDATION_FAILED to a dead letter; another key succeeds at once', async (context) => {
    const scene = await openLayer2(context)
    // Another transaction in the queue, ahead of the payment, spends the same output.
    const draft = { address: claimant(9).address.bytes, lovelace: 10n * ada, minBalance: 0n, underWay: [] }
    const rival = await scene.wallet.prepare(draft)
    if (rival.kind !== 'prepared') throw new Error(rival.kind)
    await scene.submissions.add(rival.payment.cbor)
    const answer = scene.claim(1)
    await expect.poll(scene.waiting).toBe(2)
    await scene.startValidation()
    expect(await answer).toEqual(rejected)
    const paid = await scene.claim(1, { key: 'another' })
    expect(paid.status).toBe(200)
    expect(await scene.claim(1)).toMatchObject(code('COOLDOWN'))
    expect(await scene.paidTo(1)).toEqual([100n * ada])
    const tx = await scene.services.store.transaction(Buffer.from(paid.body.txHash!, 'hex'))
    expect(tx).toBeDefined()
  })

  it('builds no second payment while the first is not validated', async (context) => {
    const scene = await openLayer2(context)
    expect(await scene.claim(1)).toEqual(internal)
    expect(await scene.claim(1, { key: 'another' })).toMatchObject(code('COOLDOWN'))
    expect(await scene.claim(1)).toEqual(internal)
    expect(await scene.waiting()).toBe(2)
    await scene.startValidation()
    expect((await scene.claim(1)).status).toBe(200)
    expect(await scene.claim(1, { key: 'another' })).toMatchObject(code('COOLDOWN'))
    expect(await scene.paidTo(1)).toEqual([100n * ada])
    expect(await scene.payer.settle()).toBe(0)
  })

  it('closing waits for claims in progress and refuses new ones', async (context) => {
    const scene = await openLayer2(context)
    let ended = false
    const { bytes: address } = claimant(1).address
    const claim = scene.payer.claim({ idempotencyKey: 'key', address, ipHash: 'ip' }).then(() => {
      ended = true
    })
    await expect.poll(scene.waiting).toBe(1)
    await scene.payer.close()
    expect(ended).toBe(true)
    await claim
    expect(await scene.claim(2)).toEqual(internal)
    expect(await scene.waiting()).toBe(1)
  })
})
