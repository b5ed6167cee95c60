import { setTimeout as sleep } from 'node:timers/promises'
import type { OutputReference } from '@ratatosk/ledger'
import type { ClaimStore, HeldClaim, Payment, ReserveRequest } from '@ratatosk/ports'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeBackends, type TestStore } from '../test/backends.js'
import { bytes, idOf, outputOf, walletOf } from '../test/samples.js'

describeBackends('faucet claims', (backend) => {
  let test: TestStore
  let claims: ClaimStore

  beforeEach(async () => {
    test = await backend.create()
    claims = test.store.faucetClaims
  })

  afterEach(() => test.drop())

  async function hold(name: string, changes: Partial<ReserveRequest> = {}, of = claims): Promise<HeldClaim> {
    const reservation = await of.reserve(request(name, changes))
    if (reservation.kind !== 'held') throw new Error(`${name}: ${reservation.kind}`)
    return reservation.claim
  }

  async function keep(
    claim: HeldClaim,
    name: string,
    spends: readonly OutputReference[] = [outputOf(name)],
  ): Promise<Payment> {
    const payment = paymentOf(name)
    expect(await claims.keep(claim, payment, spends)).toBe('kept')
    return payment
  }

  /** As if the process that holds it had died long ago. */
  async function expire({ id }: HeldClaim): Promise<void> {
    await test.database.query(
      `UPDATE ${test.schema}.faucet_claims SET held_until = clock_timestamp() - interval '1 second'
      WHERE id = $1::uuid`,
      [id],
    )
  }

  it('are reserved, paid and settled', async () => {
    const claim = await hold('alice')
    expect(claim).toMatchObject({ token: 1n, state: 'failed', amount: 100n * ada })
    expect(claim.id).toMatch(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/)
    expect(claim.address).toEqual(walletOf('alice').address)
    expect(claim.nextEligibleAt).toEqual(new Date(noon + day))
    expect(claim).not.toHaveProperty('payment')

    const payment = await keep(claim, 'alice')
    expect(await claims.underWay()).toEqual([{ payment, accepted: false }])
    expect(await claims.conclude(claim, 'funded')).toBe(true)
    expect(await claims.underWay()).toEqual([{ payment, accepted: true }])
    const [taken] = await claims.take(hour, 10)
    expect(taken).toEqual({ ...claim, token: 2n, state: 'funded', payment })
    expect(await claims.conclude(taken!, 'settled')).toBe(true)
    expect(await claims.underWay()).toEqual([])
    expect(await claims.take(hour, 10)).toEqual([])
  })

  it('return the first result for the same key and address', async () => {
    const claim = await hold('alice')
    expect(await claims.reserve(request('alice'))).toEqual({ kind: 'busy' })
    const { id: paymentId } = await keep(claim, 'alice')
    await claims.conclude(claim, 'funded')
    const { id, amount, nextEligibleAt } = claim
    const again = request('alice', { amount: 7n, ipHash: 'elsewhere', now: new Date(noon + 3 * day) })
    expect(await claims.reserve(again)).toEqual({
      kind: 'funded',
      claim: { id, paymentId, amount, nextEligibleAt },
    })
  })

  it('refuse a key with another address in every state', async () => {
    const other = { idempotencyKey: 'key of alice' }
    const claim = await hold('alice')
    expect(await claims.reserve(request('bob', other))).toEqual({ kind: 'key-used' })
    await claims.conclude(claim, 'failed')
    expect(await claims.reserve(request('bob', other))).toEqual({ kind: 'key-used' })
    const retried = await hold('alice')
    await keep(retried, 'alice')
    await claims.conclude(retried, 'funded')
    expect(await claims.reserve(request('bob', other))).toEqual({ kind: 'key-used' })
  })

  it('share the cool-down of a payment credential between its addresses', async () => {
    const { address } = walletOf('alice')
    const staked = Uint8Array.of(0x00, ...address.subarray(1), ...idOf('stake').subarray(0, 28))
    await hold('alice')
    expect(await claims.reserve(request('staked', { address: staked }))).toMatchObject({ kind: 'cooldown' })
    expect(await claims.reserve(request('bob'))).toMatchObject({ kind: 'held' })
  })

  it('start the cool-down of an address at the reservation', async () => {
    await hold('alice')
    const next = (now: number) =>
      claims.reserve(request('alice', { idempotencyKey: 'next', ipHash: 'next', now: new Date(now) }))
    const nextEligibleAt = new Date(noon + day)
    expect(await next(noon)).toEqual({ kind: 'cooldown', nextEligibleAt, overdue: false })
    expect(await next(noon + day - 1)).toEqual({ kind: 'cooldown', nextEligibleAt, overdue: false })
    expect(await next(noon + day)).toMatchObject({ kind: 'held' })
  })

  it('do not count after they failed, or if their holder died before paying', async () => {
    const failed = await hold('alice')
    await keep(failed, 'alice')
    await claims.conclude(failed, 'failed')
    const died = await hold('alice', { idempotencyKey: 'second' })
    expect(await claims.reserve(request('alice'))).toMatchObject({ kind: 'cooldown' })
    await expire(died)
    expect(await claims.reserve(request('alice', { idempotencyKey: 'third' }))).toMatchObject({
      kind: 'held',
    })
  })

  it('count while their payment may still happen, even if the holder died', async () => {
    const claim = await hold('alice')
    await keep(claim, 'alice')
    await expire(claim)
    const next = (now: number) =>
      claims.reserve(request('alice', { idempotencyKey: 'next', now: new Date(now) }))
    expect(await next(noon + hour - 1)).toMatchObject({ kind: 'cooldown', overdue: false })
    expect(await next(noon + hour)).toMatchObject({ kind: 'cooldown', overdue: true })
  })

  it('are resumed with their payment by only one of many concurrent callers', async () => {
    const claim = await hold('alice')
    const payment = await keep(claim, 'alice')
    await expire(claim)
    const other = await test.another()
    const asked = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? claims : other.faucetClaims).reserve(request('alice', { now: new Date(noon + 3 * hour) })),
      ),
    )
    const held = asked.filter(({ kind }) => kind === 'held')
    expect(held).toEqual([{ kind: 'held', claim: { ...claim, token: 2n, state: 'reserved', payment } }])
    expect(asked.filter(({ kind }) => kind === 'busy')).toHaveLength(19)
  })

  it('start again after a failure and return the failed payment', async () => {
    const first = await hold('alice', { ipHash: 'first' })
    const payment = await keep(first, 'alice')
    await claims.conclude(first, 'failed')
    expect(await claims.underWay()).toEqual([])
    const second = await hold('alice', { now: new Date(noon + hour), amount: 5n })
    expect(second).toEqual({
      ...first,
      token: 2n,
      amount: 5n,
      nextEligibleAt: new Date(noon + hour + day),
      payment,
    })
    expect(await claims.underWay()).toEqual([])
  })

  it('refuse a retry while another claim of the address counts', async () => {
    await claims.conclude(await hold('alice'), 'failed')
    await hold('alice', { idempotencyKey: 'second' })
    expect(await claims.reserve(request('alice'))).toMatchObject({ kind: 'cooldown' })
  })

  it('are limited per ipHash in a rolling 24 hours, checked after the cool-down', async () => {
    const from = (name: string, now = noon) =>
      claims.reserve(request(name, { ipHash: 'shared', dailyIpLimit: 2, now: new Date(now) }))
    await from('alice')
    await from('bob', noon + hour)
    expect(await from('carol', noon + 2 * hour)).toEqual({ kind: 'ip-limit', overdue: false })
    expect(await from('alice', noon + 2 * hour)).toEqual({ kind: 'busy' })
    const second = request('alice', { idempotencyKey: 'second', ipHash: 'shared', dailyIpLimit: 2 })
    expect(await claims.reserve(second)).toMatchObject({ kind: 'cooldown' })
    expect(await from('carol', noon + day - 1)).toEqual({ kind: 'ip-limit', overdue: false })
    expect(await from('carol', noon + day)).toMatchObject({ kind: 'held' })
    expect(await from('dave', noon + day)).toEqual({ kind: 'ip-limit', overdue: false })
    expect(await from('dave', noon + day + hour)).toMatchObject({ kind: 'held' })
  })

  it('admit as many concurrent requests as sequential ones', async () => {
    const other = await test.another()
    const of = (n: number) => (n % 2 ? claims : other.faucetClaims)
    const all = <T>(make: (n: number) => Promise<T>) =>
      Promise.all(Array.from({ length: 50 }, (_, n) => make(n)))
    const kinds = (results: readonly { readonly kind: string }[]) =>
      results.map(({ kind }) => kind).toSorted()

    const sameKey = await all((n) => of(n).reserve(request('alice')))
    expect(kinds(sameKey)).toEqual([...new Array(49).fill('busy'), 'held'])
    const sameAddress = await all((n) =>
      of(n).reserve(request('bob', { idempotencyKey: `bob ${n}`, ipHash: `${n}` })),
    )
    expect(kinds(sameAddress)).toEqual([...new Array(49).fill('cooldown'), 'held'])
    const sameIp = await all((n) => of(n).reserve(request(`carol ${n}`, { ipHash: 'carol' })))
    expect(kinds(sameIp)).toEqual([...new Array(5).fill('held'), ...new Array(45).fill('ip-limit')])
  })

  it('never spend an output twice', async () => {
    const [alice, bob] = [await hold('alice'), await hold('bob')]
    await keep(alice, 'alice', [outputOf('funds', 0), outputOf('funds', 1)])
    const overlapping = [outputOf('funds', 2), outputOf('funds', 1)]
    expect(await claims.keep(bob, paymentOf('bob'), overlapping)).toBe('taken')
    expect(await claims.underWay()).toHaveLength(1)
    expect(await claims.keep(bob, paymentOf('bob'), [outputOf('funds', 2)])).toBe('kept')

    // Another payment of the same claim may spend what the first would have.
    expect(await claims.keep(alice, paymentOf('again'), [outputOf('funds', 1)])).toBe('kept')
    expect((await claims.underWay()).map(({ payment }) => payment.id)).toEqual([
      paymentOf('bob').id,
      paymentOf('again').id,
    ])
    const carol = await hold('carol')
    expect(await claims.keep(carol, paymentOf('carol'), [outputOf('funds', 0)])).toBe('kept')
    await claims.conclude(bob, 'failed')
    expect(await claims.keep(carol, paymentOf('carol'), [outputOf('funds', 2)])).toBe('kept')
    await claims.conclude(carol, 'funded')
    const dave = await hold('dave')
    expect(await claims.keep(dave, paymentOf('dave'), [outputOf('funds', 2)])).toBe('taken')
  })

  it('give an output to only one of many concurrent payments', async () => {
    const held = await Promise.all(Array.from({ length: 10 }, (_, n) => hold(`${n}`)))
    const other = (await test.another()).faucetClaims
    const kept = await Promise.all(
      held.map((claim, n) =>
        (n % 2 ? claims : other).keep(claim, paymentOf(`${n}`), [
          outputOf('funds', n % 3),
          outputOf('funds', (n + 1) % 3),
        ]),
      ),
    )
    expect(kept.filter((result) => result === 'kept')).toHaveLength(1)
    expect(await claims.underWay()).toHaveLength(1)
  })

  it('can be changed only by their holder', async () => {
    const first = await hold('alice')
    await expire(first)
    expect(await claims.keep(first, paymentOf('alice'), [outputOf('alice')])).toBe('lost')
    const second = await hold('alice')
    expect(second.token).toBeGreaterThan(first.token)
    await keep(second, 'alice')
    expect(await claims.keep(first, paymentOf('late'), [outputOf('late')])).toBe('lost')
    expect(await claims.conclude(first, 'failed')).toBe(false)
    expect(await claims.reserve(request('alice'))).toEqual({ kind: 'busy' })
    expect(await claims.conclude(second, 'undecided')).toBe(true)
    expect((await hold('alice')).state).toBe('reserved')
  })

  it('stay held while they are extended', async () => {
    const [alice, bob] = [await hold('alice'), await hold('bob', { leaseMs: 1 })]
    const heldUntil = async () =>
      (
        await test.database.query<{ id: string; minutes: number }>(
          `SELECT id, extract(epoch FROM held_until - clock_timestamp())::integer / 60 AS minutes
            FROM ${test.schema}.faucet_claims`,
        )
      ).map(({ id, minutes }) => [id, minutes])
    while ((await claims.reserve(request('bob', { leaseMs: 1 }))).kind === 'busy');
    await claims.extend([alice, bob], 5 * hour)
    expect(new Map((await heldUntil()) as [string, number][]).get(alice.id)).toBeGreaterThan(290)
    expect(new Map((await heldUntil()) as [string, number][]).get(bob.id)).toBeLessThan(1)
  })

  it('count while a longer hold is being recorded, also when the shorter one has ended', async () => {
    const shared = { ipHash: 'shared', dailyIpLimit: 1 }
    const { id } = await hold('alice', { ...shared, leaseMs: 500 })
    const extending = test.database.query(
      `WITH extended AS (
        UPDATE ${test.schema}.faucet_claims SET held_until = clock_timestamp() + interval '1 hour'
        WHERE id = $1::uuid AND held_until > clock_timestamp() RETURNING id
      ) SELECT pg_sleep(1.5) FROM extended`,
      [id],
    )
    await sleep(800)
    expect(await claims.reserve(request('bob', shared))).toMatchObject({ kind: 'ip-limit' })
    expect(await extending).toHaveLength(1)
  })

  it('cannot be paid by a holder whose claim no longer counts', async () => {
    const shared = { ipHash: 'shared', dailyIpLimit: 1 }
    const alice = await hold('alice', shared)
    await expire(alice)
    await hold('bob', shared)
    await claims.extend([alice], hour)
    expect(await claims.keep(alice, paymentOf('alice'), [outputOf('alice')])).toBe('lost')
    expect(await claims.reserve(request('alice', shared))).toMatchObject({ kind: 'ip-limit' })
  })

  it('are taken by one caller, in the order of their payments', async () => {
    const names = ['alice', 'bob', 'carol', 'dave']
    const held = new Map<string, HeldClaim>()
    for (const name of names) held.set(name, await hold(name))
    for (const name of ['carol', 'alice', 'dave']) {
      await keep(held.get(name)!, name)
      await claims.conclude(held.get(name)!, 'undecided')
    }
    const other = (await test.another()).faucetClaims
    const [some, more] = await Promise.all([claims.take(hour, 2), other.take(hour, 2)])
    const ids = [...some, ...more].map(({ id }) => id)
    expect(ids.toSorted()).toEqual(['carol', 'alice', 'dave'].map((name) => held.get(name)!.id).toSorted())
    for (const claim of [...some, ...more]) await claims.conclude(claim, 'undecided')
    const order = (await claims.take(hour, 2)).map(({ id }) => id)
    expect(order).toEqual([held.get('carol')!.id, held.get('alice')!.id])
  })

  it.each([
    ['a lease of 0 ms', { leaseMs: 0 }],
    ['a negative cool-down', { cooldownMs: -1 }],
    ['a cool-down of NaN', { cooldownMs: Number.NaN }],
  ])('refuse %s', async (_, changes) => {
    await expect(claims.reserve(request('alice', changes))).rejects.toMatchObject({
      code: 'STORE_INVALID_ARGUMENT',
    })
  })
})

const hour = 3_600_000
const day = 24 * hour
const noon = Date.UTC(2026, 0, 1, 12)
const ada = 1_000_000n

function request(name: string, changes: Partial<ReserveRequest> = {}): ReserveRequest {
  return {
    idempotencyKey: `key of ${name}`,
    address: walletOf(name).address,
    ipHash: `ip of ${name}`,
    amount: 100n * ada,
    now: new Date(noon),
    cooldownMs: day,
    dailyIpLimit: 5,
    leaseMs: hour,
    ...changes,
  }
}

function paymentOf(name: string, expiresAt = noon + hour): Payment {
  return { id: idOf(`payment of ${name}`), cbor: bytes(`payment of ${name}`), expiresAt: new Date(expiresAt) }
}
