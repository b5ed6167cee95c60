import { expect, test } from 'vitest'
import { openChain, openRollup, queueOf } from '../test/rollup.js'
import { openers } from '../test/services.js'

test('an operation succeeds although layer 1 includes its transactions a minute late', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const { sequencer } = await openRollup(context, store, chain.layer1, { blockValidityMs: 1000 })

  /** Runs an operation whose transactions each wait for a minute; returns its result and their number. */
  async function runLate(operation: 'init' | 'reset') {
    let transactions = 0
    let result: unknown
    const run = sequencer.run(operation).then((value) => {
      result = value
    })
    while (result === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      const waiting = chain.devnet.mempool().length
      if (waiting === 0) continue
      transactions += waiting
      chain.clock.time += 60_000
      await chain.mine()
    }
    await run
    return { result, transactions }
  }

  const init = await runLate('init')
  expect(init).toMatchObject({ result: { kind: 'initiated' } })
  expect(init.transactions, 'registry, scripts, registration, root').toBeGreaterThanOrEqual(4)
  expect(await runLate('reset')).toMatchObject({ result: { kind: 'reset' }, transactions: 1 })
  expect((await queueOf(chain.layer1)).roots).toEqual([])
})
