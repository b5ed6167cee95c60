import { expect, test } from 'vitest'
import { isFollowed, lagOf } from './metrics.js'

test('a watcher whose archive does not lead to the state queue is behind all of it, and not active', () => {
  const away = { height: 0n, queued: 7 }
  expect([isFollowed(away), lagOf(away)]).toEqual([false, 7])
  expect([isFollowed({ height: 0n }), lagOf({ height: 0n })]).toEqual([false, Number.NaN])
  const behind = { height: 5n, target: 9n, queued: 6 }
  expect([isFollowed(behind), lagOf(behind)]).toEqual([true, 4])
  expect([isFollowed(undefined), lagOf(undefined)]).toEqual([false, 0])
})
