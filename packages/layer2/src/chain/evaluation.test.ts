import { documentFees, fundsOf, keyOf, signed, slots } from '@ratatosk/test-kit'
import { openTurns } from '@ratatosk/workers'
import { expect, test } from 'vitest'
import { type Layer2ChainOptions, openLayer2Chain } from './open-layer2-chain.js'

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
