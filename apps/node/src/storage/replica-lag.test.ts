import { expect, test } from 'vitest'
import { trackReplicaLag } from './replica-lag.js'

function tracked() {
  const clock = { now: 0 }
  return { clock, lag: trackReplicaLag(() => clock.now) }
}

test('says nothing before the replica has replayed a position that is known', () => {
  const { lag } = tracked()
  lag.replayed(5n)
  expect(lag.ms()).toBeUndefined()
  lag.flushed(10n, 0)
  lag.replayed(9n)
  expect(lag.ms()).toBeUndefined()
})

test('an idle primary makes no lag, and a replica that stands still does', () => {
  const { clock, lag } = tracked()
  for (const at of [0, 1000, 2000]) {
    clock.now = at
    lag.flushed(10n, at)
    lag.replayed(10n)
    expect(lag.ms()).toBe(0)
  }
  lag.flushed(20n, 3000)
  lag.flushed(30n, 4000)
  clock.now = 9000
  lag.replayed(10n)
  expect(lag.ms()).toBe(7000)
  lag.replayed(20n)
  expect(lag.ms()).toBe(6000)
  lag.replayed(35n)
  expect(lag.ms()).toBe(5000)
})

test('a day without a replica that replays takes little memory, and is known as such', () => {
  const { clock, lag } = tracked()
  lag.flushed(0n, 0)
  lag.replayed(0n)
  for (let n = 1; n <= 86_400; n++) lag.flushed(BigInt(n), n * 1000)
  clock.now = 86_400_000
  expect(lag.ms()).toBe(86_400_000)
  lag.replayed(86_400n)
  expect(lag.ms()).toBeLessThan(600_000)
})

test('forgets the positions of a former primary', () => {
  const { clock, lag } = tracked()
  lag.flushed(100n, 0)
  lag.flushed(50n, 1000)
  clock.now = 2000
  lag.replayed(50n)
  expect(lag.ms()).toBe(1000)
})
