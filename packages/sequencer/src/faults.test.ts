import type { FaultKind } from '@ratatosk/devnet'
import { expect, test, vi } from 'vitest'
import { everythingMerged, expectAgreement, until } from './test/agreement.js'
import { accept, openChain, openers, openRollup, transfers } from './test/rollup.js'
import { contractsOf } from './test/rollup-contracts.js'
import type { Step } from './types.js'

const kinds: readonly FaultKind[] = ['lost-answer', 'time-out', 'failure', 'refusal']
/** All kinds of failure at each step; otherwise one at each. */
const thorough = process.env.RATATOSK_FAULTS === 'all'

/** Blocks are mature soon. */
const quick = contractsOf(2000n)

const steps: readonly Step[] = [
  'roots-applied',
  'block-built',
  'commit-sent',
  'block-submitted',
  'block-committed',
  'block-mature',
  'merge-stored',
  'merge-sent',
  'block-merged',
]

test.concurrent('continues when layer 1 fails after any step', {
  timeout: 60_000,
}, async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  let awaited: { readonly step: Step; readonly met: () => void } | undefined
  const { sequencer, roots } = await openRollup(context, store, chain.layer1, {
    autoCommit: true,
    autoMerge: true,
    contracts: quick,
    blockValidityMs: 8000,
    observer: {
      step(name) {
        if (name === awaited?.step) awaited.met()
      },
    },
  })
  await sequencer.run('init')
  const sent = transfers(40)
  let given = 0
  for (const [index, step] of steps.entries()) {
    for (const kind of thorough ? kinds : [kinds[index % kinds.length]!]) {
      const met = new Promise<void>((resolve) => {
        awaited = { step, met: resolve }
      })
      await accept(store, sent.slice(given, ++given))
      await met
      // Both attempts of the next call, whichever it is.
      chain.devnet.faults.inject({ kind, target: 'client', times: 2 })
    }
  }
  await until(() => everythingMerged(store))
  chain.devnet.faults.clear()
  await expectAgreement(store, chain.layer1, roots, sent.slice(0, given), quick)
})

test.concurrent('an unexpected error that repeats is a fault until it has ended', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const options = { autoCommit: true, autoMerge: true, contracts: quick }
  const { sequencer } = await openRollup(context, store, chain.layer1, options)
  await sequencer.run('init')
  const broken = vi.spyOn(store.blocks, 'oldest').mockRejectedValue(new TypeError('x is not a function'))
  await accept(store, transfers(1))
  await until(async () => sequencer.snapshot().fault?.code === 'SEQUENCER_FAILED')
  await until(async () => sequencer.faultMs > 500)
  broken.mockRestore()
  await until(() => everythingMerged(store))
  expect(sequencer.snapshot().fault).toBeNull()
  expect(sequencer.faultMs).toBe(0)
})

test.concurrent.for(kinds)(
  'a transaction whose submission meets %s takes effect once',
  async (kind, context) => {
    const { store } = await openers['PostgreSQL and Redis'](context)
    const chain = await openChain(context)
    context.onTestFinished(chain.keepMining())
    const { sequencer, roots } = await openRollup(context, store, chain.layer1)
    const sent = transfers(2)
    const failing = () =>
      chain.devnet.faults.inject({ kind, target: 'client', operation: 'submit', times: 2 })
    failing()
    expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
    await accept(store, sent)
    failing()
    expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 2 })
    await chain.mine(50)
    failing()
    expect(await sequencer.run('merge')).toMatchObject({ kind: 'merged' })
    await expectAgreement(store, chain.layer1, roots, sent)
  },
)
