import { describe, expect, test } from 'vitest'
import { EvaluationsBusyError, openTurns } from './index.js'

/** Work that is in progress until it is ended. */
function held() {
  let begin: () => void = () => {}
  let end: () => void = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const work = async () => {
    begin()
    await ended
  }
  return { work, begun, end: () => end() }
}

describe('turns', () => {
  test('begin one at a time, the cheapest first', async () => {
    const { take } = openTurns()
    const first = held()
    const order: bigint[] = []
    const running = take(9n, undefined, first.work)
    await first.begun
    const others = [3n, 1n, 2n].map((cost) => take(cost, undefined, async () => order.push(cost)))
    expect(order).toEqual([])
    first.end()
    await Promise.all([running, ...others])
    expect(order).toEqual([1n, 2n, 3n])
  })

  test('are not taken by those that have left', async () => {
    const { take } = openTurns()
    const first = held()
    const gone = new AbortController()
    let ran = 0
    const work = async () => ++ran
    const running = take(1n, gone.signal, first.work)
    await first.begun
    const left = Array.from({ length: 32 }, () => take(1n, gone.signal, work).catch((error) => error.name))
    gone.abort()
    expect(new Set(await Promise.all(left))).toEqual(new Set(['AbortError']))
    await expect(take(1n, gone.signal, work)).rejects.toThrow('aborted')
    const stays = take(2n, undefined, work)
    first.end()
    await running
    expect(await stays).toBe(1)
  })

  test('are refused beyond the limits of those that wait and of the wait', async () => {
    const { take } = openTurns({ maxWaiting: 1, maxWaitMs: 1 })
    const first = held()
    const running = take(1n, undefined, first.work)
    await first.begun
    const late = take(1n, undefined, async () => {})
    await expect(take(1n, undefined, async () => {})).rejects.toThrow(EvaluationsBusyError)
    await expect(late).rejects.toThrow(EvaluationsBusyError)
    first.end()
    await running
  })

  test('pass on when work fails', async () => {
    const { take } = openTurns()
    await expect(take(1n, undefined, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await take(1n, undefined, async () => 2)).toBe(2)
  })
})
