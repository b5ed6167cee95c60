import { documentFees, fundsOf, keyOf, signed, slots } from '@ratatosk/test-kit'
import { openTurns } from '@ratatosk/workers'
import { describe, expect, test } from 'vitest'
import { shareReads } from '../ledger-index/share-reads.js'
import { type Layer2ChainOptions, openLayer2Chain } from './open-layer2-chain.js'

describe('evaluation', () => {
  const key = keyOf(1)
  const [fund] = fundsOf(key, 1, 5_000_000n)

  test('an evaluation whose client has left does not run', async () => {
    let runs = 0
    let finish = () => {}
    const evaluator: Layer2ChainOptions['evaluator'] = {
      async evaluate() {
        runs++
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        return { ok: true, redeemers: [] }
      },
    }
    const { view } = openLayer2Chain({
      store: {
        ledger: { outputs: async (references: readonly unknown[]) => references.map(() => fund!.output) },
      },
      evaluator,
      turns: openTurns({ maxWaitMs: 600_000 }),
      parameters: documentFees,
      slots,
      networkId: 0,
      now: Date.now,
    } as unknown as Layer2ChainOptions)
    const chain = view('accepted')
    const { cbor } = signed(key, { inputs: [fund!.reference], outputs: [5_000_000n] })
    const client = new AbortController()
    const evaluate = (signal?: AbortSignal) => chain.evaluate(cbor, new Map(), signal)

    const evaluations = Array.from({ length: 40 }, () => evaluate(client.signal))
    await expect.poll(() => runs).toBe(1)
    client.abort()
    const next = evaluate()
    finish()
    const kinds = (await Promise.all(evaluations)).map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'busy')).toHaveLength(39)
    await expect.poll(() => runs).toBe(2)
    finish()
    expect(await next).toMatchObject({ kind: 'evaluated' })
  })
})

describe('share reads', () => {
  /** Reads that end when they are released. */
  function heldReads() {
    const begun: { readonly key: string; readonly end: (error?: Error) => void }[] = []
    const read = shareReads(
      (key: string) =>
        new Promise<number>((resolve, reject) => {
          const number = begun.length + 1
          begun.push({ key, end: (error) => (error === undefined ? resolve(number) : reject(error)) })
        }),
    )
    return { begun, read }
  }

  const settled = () => new Promise((resolve) => setImmediate(resolve))

  test('callers at the same time share a read, and later ones the next', async () => {
    const { begun, read } = heldReads()
    const first = [read('a'), read('a'), read('b')]
    await settled()
    const later = Array.from({ length: 100 }, () => read('a'))
    await settled()
    expect(begun.map(({ key }) => key)).toEqual(['a', 'b'])
    for (const { end } of begun) end()
    expect(await Promise.all(first)).toEqual([1, 1, 2])
    await settled()
    begun.at(-1)?.end()
    expect(new Set(await Promise.all(later)), 'a read that began after their calls').toEqual(new Set([3]))
    expect(begun).toHaveLength(3)
  })

  test('a failed read fails its callers only', async () => {
    const { begun, read } = heldReads()
    const first = read('a')
    await settled()
    const later = read('a')
    begun[0]?.end(new Error('lost'))
    await expect(first).rejects.toThrow('lost')
    await settled()
    begun[1]?.end()
    expect(await later).toBe(2)
  })
})
