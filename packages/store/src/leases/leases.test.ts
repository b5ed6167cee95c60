import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeBackends, type TestStore } from '../test/backends.js'
import type { Leases } from './types.js'

const hour = 3_600_000

describeBackends('leases', (backend) => {
  let test: TestStore
  let leases: Leases

  beforeEach(async () => {
    test = await backend.create()
    leases = test.store.leases
  })

  afterEach(() => test.drop())

  /** As if the lease had been taken long ago. */
  async function expire(name: string): Promise<void> {
    await test.database.query(
      `UPDATE ${test.schema}.leases SET expires_at = clock_timestamp() - interval '1 second' WHERE name = $1`,
      [name],
    )
  }

  it('are acquired by only one of many concurrent callers', async () => {
    const other = await test.another()
    const asked = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? leases : other.leases).acquire('sequencer', `${n}`, hour),
      ),
    )
    const held = asked.filter((lease) => lease !== undefined)
    expect(held).toHaveLength(1)
    expect(held[0]).toMatchObject({ name: 'sequencer', token: 1n })
  })

  it('are independent of leases with another name', async () => {
    expect(await leases.acquire('sequencer', 'a', hour)).toBeDefined()
    expect(await leases.acquire('reset', 'b', hour)).toBeDefined()
  })

  it('can be acquired after they expire, with a greater token', async () => {
    const first = await leases.acquire('sequencer', 'a', hour)
    expect(await leases.acquire('sequencer', 'b', hour)).toBeUndefined()
    await expire('sequencer')
    const second = await leases.acquire('sequencer', 'b', hour)
    expect(second).toMatchObject({ holder: 'b', token: 2n })
    expect(await leases.renew(first!, hour)).toBeUndefined()
    expect(await leases.release(first!)).toBe(false)
    expect(await leases.renew(second!, hour)).toMatchObject({ holder: 'b', token: 2n })
  })

  it('expire after the requested time', async () => {
    await leases.acquire('sequencer', 'a', 1)
    let taken: unknown
    while (taken === undefined) taken = await leases.acquire('sequencer', 'b', hour)
    expect(taken).toMatchObject({ token: 2n })
  })

  it('are visible to every store until they expire', async () => {
    expect(await leases.current('sequencer')).toBeUndefined()
    const lease = await leases.acquire('sequencer', 'a', hour)
    expect(await (await test.another()).leases.current('sequencer')).toEqual(lease)
    expect(await leases.current('reset')).toBeUndefined()
    await expire('sequencer')
    expect(await leases.current('sequencer')).toBeUndefined()
    const second = await leases.acquire('sequencer', 'b', hour)
    expect(await leases.current('sequencer')).toEqual(second)
    await leases.release(second!)
    expect(await leases.current('sequencer')).toBeUndefined()
    expect(await leases.newest('sequencer')).toMatchObject({ holder: 'b', token: second!.token })
    expect(await leases.newest('reset')).toBeUndefined()
  })

  it('are extended from the time of the renewal', async () => {
    const lease = await leases.acquire('sequencer', 'a', hour)
    const renewed = await leases.renew(lease!, 3 * hour)
    expect(renewed!.expiresAt.getTime() - lease!.expiresAt.getTime()).toBeGreaterThanOrEqual(2 * hour)
    expect(renewed!.expiresAt.getTime() - lease!.expiresAt.getTime()).toBeLessThan(3 * hour)
  })

  it('cannot be renewed after they expire, even if they are free', async () => {
    const lease = await leases.acquire('sequencer', 'a', hour)
    await expire('sequencer')
    expect(await leases.renew(lease!, hour)).toBeUndefined()
  })

  it('are free when released, and never reuse a token', async () => {
    const first = await leases.acquire('sequencer', 'a', hour)
    expect(await leases.release(first!)).toBe(true)
    expect(await leases.release(first!)).toBe(false)
    const second = await leases.acquire('sequencer', 'a', hour)
    expect(second!.token).toBe(2n)
  })

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('refuse a duration of %d ms', async (ttlMs) => {
    await expect(leases.acquire('sequencer', 'a', ttlMs)).rejects.toMatchObject({
      code: 'STORE_INVALID_ARGUMENT',
    })
  })
})
