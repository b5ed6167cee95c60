import { describe, expect, it } from 'vitest'
import { openScene, stages } from './test/scene.js'
import { ada } from './test/wallets.js'

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
