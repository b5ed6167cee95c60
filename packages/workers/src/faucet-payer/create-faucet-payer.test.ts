import {
  decodeTransaction,
  decodeTransactionOutput,
  outputReferenceKey,
  timeToSlot,
  type Utxo,
} from '@ratatosk/ledger'
import { buildTransaction } from '@ratatosk/ledger/builder'
import { documentFees, slots } from '@ratatosk/test-kit'
import { describe, expect, it, type TestContext } from 'vitest'
import { openers } from '../test/running-worker.js'
import { createLayer2FaucetWallet } from './layer-wallets.js'
import { endow, openScene, stages } from './test/scene.js'
import { ada, claimant, faucetKeys, outputTo } from './test/wallets.js'
import { spendable } from './wallet.js'

const noon = Date.UTC(2026, 10, 21, 12)
const day = 86_400_000
const crowd = Number(process.env.RATATOSK_FAUCET_CROWD ?? 200)

const times = (count: number) => Array.from({ length: count }, (_, n) => n)
const codes = (answers: readonly { status: number; body: { [field: string]: string } }[]) => {
  const counts: { [code: string]: number } = {}
  for (const { status, body } of answers) {
    const code = status === 200 ? 'paid' : (body.code ?? `${status}`)
    counts[code] = (counts[code] ?? 0) + 1
  }
  return counts
}

describe.each(stages)('a faucet on $layer, with $backend', (stage) => {
  it(`pays once for ${crowd} claims with one key from two processes, with one answer`, async (context) => {
    const scene = await openScene(context, stage)
    const other = await scene.another()
    const answers = await Promise.all(
      times(crowd).map((n) => (n % 2 ? scene : other).claim(1, { key: 'one' })),
    )
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]).toMatchObject({ status: 200, body: { amount: '100000000' } })
    expect(await scene.claim(1, { key: 'one', ip: 'another' })).toEqual(answers[0])
    expect(await scene.paidTo(1)).toEqual([100n * ada])
  })

  it(`pays one of ${crowd} claims of one address until its cool-down ends`, async (context) => {
    let now = noon
    const scene = await openScene(context, stage, { clock: { now: () => now } })
    const answers = await Promise.all(times(crowd).map((n) => scene.claim(1, { key: `${n}`, ip: `${n}` })))
    expect(codes(answers)).toEqual({ paid: 1, COOLDOWN: crowd - 1 })
    const nextEligibleAt = '2026-11-22T12:00:00.000Z'
    expect(new Set(answers.map(({ body }) => body.nextEligibleAt))).toEqual(new Set([nextEligibleAt]))
    expect(await scene.paidTo(1)).toEqual([100n * ada])

    now += day - 1
    expect(await scene.claim(1, { key: 'early' })).toEqual({
      status: 429,
      body: { error: 'The address has claimed too recently', code: 'COOLDOWN', nextEligibleAt },
    })
    now += 1
    expect((await scene.claim(1, { key: 'in time' })).status).toBe(200)
    expect(await scene.paidTo(1)).toEqual([100n * ada, 100n * ada])
  })

  it('pays exactly the daily limit for 50 claims of one ipHash', async (context) => {
    let now = noon
    const scene = await openScene(context, stage, { clock: { now: () => now } })
    const answers = await Promise.all(times(50).map((n) => scene.claim(n, { ip: 'shared' })))
    expect(codes(answers)).toEqual({ paid: 5, IP_LIMIT: 45 })
    const paid = await Promise.all(times(50).map((n) => scene.paidTo(n)))
    expect(paid.filter(({ length }) => length === 1)).toHaveLength(5)
    expect(paid.flat()).toHaveLength(5)
    now += day
    expect((await scene.claim(99, { ip: 'shared' })).status).toBe(200)
  })

  it('pays many addresses concurrently from a single output, from two processes', async (context) => {
    const scene = await openScene(context, stage, { funds: [10_000n * ada] })
    const other = await scene.another()
    const answers = await Promise.all(times(20).map((n) => (n % 2 ? scene : other).claim(n)))
    expect(codes(answers)).toEqual({ paid: 20 })
    expect(new Set(answers.map(({ body }) => body.txHash)).size).toBe(20)
    for (const n of times(20)) expect(await scene.paidTo(n)).toEqual([100n * ada])
  })

  it('answers DEPLETED below the minimum balance, and pays again after a refill', async (context) => {
    const scene = await openScene(context, stage, { funds: [250n * ada] })
    const answers = [await scene.claim(1), await scene.claim(2)]
    await scene.layer.include()
    answers.push(await scene.claim(3))
    expect(codes(answers)).toEqual({ paid: 1, DEPLETED: 2 })
    expect(answers[2]).toEqual({
      status: 503,
      body: { error: 'The faucet has insufficient funds; try again later', code: 'DEPLETED' },
    })
    await scene.refill(1000n * ada)
    expect((await scene.claim(2)).status).toBe(200)
    expect((await scene.claim(3, { key: 'another' })).status).toBe(200)
    for (const n of [1, 2, 3]) expect(await scene.paidTo(n)).toEqual([100n * ada])
  })

  it('logs neither token nor ipHash', async (context) => {
    const scene = await openScene(context, stage, { funds: [250n * ada] })
    await scene.claim(1, { ip: 'the hash of an address' })
    await scene.claim(2, { ip: 'the hash of an address' })
    await scene.claim(1, { key: 'too soon', ip: 'the hash of an address' })
    const log = scene.log.join('')
    expect(log).toContain('Faucet claim paid')
    expect(log).not.toContain('a token that only tests know')
    expect(log).not.toContain('the hash of an address')
  })
})

describe('layer2 wallet', () => {
  const pageRows = 128

  /** A wallet that owns outputs of these amounts, oldest first, and how many of them it has read. */
  async function openWallet(context: TestContext, funds: readonly bigint[]) {
    const { store } = await openers['PostgreSQL and Redis'](context)
    await endow({ store }, funds)
    let read = 0
    const wallet = createLayer2FaucetWallet({
      store: {
        ...store,
        async *utxoPages(address) {
          for await (const page of store.utxoPages(address)) {
            read += page.length
            yield page
          }
        },
      },
      submissions: { add: () => Promise.reject(new Error('nothing is sent')) },
      keys: faucetKeys,
      parameters: documentFees,
      slots,
    })
    return { wallet, read: () => read }
  }

  const draft = (lovelace: bigint) => ({
    address: claimant(1).address.bytes,
    lovelace,
    minBalance: 10n * ada,
    underWay: [],
  })
  const many = (count: number, lovelace: bigint) => Array.from({ length: count }, () => lovelace)

  describe('a faucet wallet on layer 2 to which thousands of outputs were sent', () => {
    it('reads one page of them if that suffices', async (context) => {
      const { wallet, read } = await openWallet(context, many(3000, 200n * ada))
      expect(await wallet.prepare(draft(100n * ada))).toMatchObject({ kind: 'prepared' })
      expect(read()).toBe(pageRows)
    })

    it('reads on until they suffice', async (context) => {
      const dust = 10 * pageRows
      const { wallet, read } = await openWallet(context, [
        ...many(dust, 2n * ada),
        5000n * ada,
        ...many(dust, 2n * ada),
      ])
      const prepared = await wallet.prepare(draft(4000n * ada))
      expect(prepared).toMatchObject({ kind: 'prepared' })
      if (prepared.kind !== 'prepared') return
      const [payment] = decodeTransaction(prepared.payment.cbor).body.outputs
      expect(payment?.value.lovelace).toBe(4000n * ada)
      expect(read()).toBeGreaterThan(dust)
      expect(read()).toBeLessThanOrEqual(2 * dust)
    })

    it('is depleted only if all of them do not suffice', async (context) => {
      const { wallet, read } = await openWallet(context, many(300, 2n * ada))
      expect(await wallet.prepare(draft(591n * ada))).toEqual({ kind: 'depleted' })
      expect(read()).toBe(300)
    })
  })
})

describe('prepare payment', () => {
  const own = faucetKeys.address.bytes
  const slot = timeToSlot(slots, BigInt(Date.UTC(2026, 10, 21)))

  const first = (index: number): Utxo => ({
    reference: { transactionId: new Uint8Array(32), index },
    output: decodeTransactionOutput(outputTo(faucetKeys, 1000n * ada)),
  })

  /** A payment that spends one output, and its change. */
  async function payment(from: Utxo) {
    const { transaction, produced } = await buildTransaction(
      { outputs: [{ address: claimant(1).addressText, lovelace: 100n * ada }] },
      {
        funds: [from],
        changeAddress: own,
        signers: [faucetKeys.payment],
        parameters: documentFees,
        slots,
        slot,
        networkId: 0,
      },
    )
    const kept = { id: transaction.id, cbor: transaction.bytes, expiresAt: new Date(0) }
    return { kept, change: produced[1]! }
  }

  const names = (utxos: readonly Utxo[]) =>
    utxos.map(({ reference }) => outputReferenceKey(reference)).toSorted()

  describe('spendable', () => {
    it('returns outputs that no payment under way spends, and the change of accepted payments', async () => {
      const [a, b, c] = [first(0), first(1), first(2)]
      const [paid, waiting] = [await payment(a), await payment(b)]
      const underWay = [
        { payment: paid.kept, accepted: true },
        { payment: waiting.kept, accepted: false },
      ]
      const { accepted, all } = spendable([a, b, c], underWay, own)
      expect(names(accepted)).toEqual(names([c, paid.change]))
      expect(names(all)).toEqual(names([c, paid.change, waiting.change]))
    })

    it('follows a chain of payments of which the ledger has included any part', async () => {
      const one = await payment(first(0))
      const two = await payment(one.change)
      const underWay = [one, two].map(({ kept }) => ({ payment: kept, accepted: true }))
      for (const unspent of [first(0), one.change, two.change]) {
        expect(names(spendable([unspent], underWay, own).accepted)).toEqual(names([two.change]))
      }
    })

    it('omits the change of an included payment once it is spent', async () => {
      const one = await payment(first(0))
      const underWay = [{ payment: one.kept, accepted: true }]
      expect(names(spendable([first(1)], underWay, own).accepted)).toEqual(names([first(1)]))
      expect(spendable([], underWay, own).all).toEqual([])
    })
  })
})
