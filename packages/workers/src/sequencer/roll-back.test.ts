import fc from 'fast-check'
import { expect, test } from 'vitest'
import { everythingMerged, expectAgreement, until } from '../test/agreement.js'
import { accept, openChain, openRollup, transfers } from '../test/rollup.js'
import { openers } from '../test/services.js'

const runs = Number(process.env.RATATOSK_ROLL_BACKS ?? 2)

/** What happens to layer 1, and how many blocks after what happened before. */
const event = fc.record({
  depth: fc.constantFrom(1, 2, 10),
  resubmit: fc.boolean(),
  after: fc.integer({ min: 0, max: 12 }),
  /** Milliseconds: into the middle of some step. */
  moment: fc.integer({ min: 0, max: 60 }),
  transactions: fc.integer({ min: 1, max: 4 }),
})

test(`after ${runs} histories of roll-backs, layer 1, store and trie agree by themselves`, {
  timeout: 30_000 + runs * 30_000,
}, async (context) => {
  const open = openers['PostgreSQL and Redis']
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 3, maxLength: 8 }), async (events) => {
      const closing: (() => unknown)[] = []
      const inner = { ...context, onTestFinished: (end: () => unknown) => void closing.push(end) }
      const scene = inner as unknown as typeof context
      try {
        const { store } = await open(scene)
        const chain = await openChain(scene)
        const log = process.env.RATATOSK_LOG
          ? {
              info: (_: object, m: string) => console.log(m),
              warn: (f: object, m: string) => console.log('W', m, f),
              error: (f: object, m: string) => console.log('E', m, f),
            }
          : undefined
        const { sequencer, roots } = await openRollup(scene, store, chain.layer1, {
          autoCommit: true,
          autoMerge: true,
          blockValidityMs: 15_000,
          ...(log && { log }),
        })
        const stop = chain.keepMining()
        closing.push(stop)
        expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
        // Deeper than all roll-backs together: a queue that never began is for init to begin.
        await chain.mine(90)
        const sent = transfers(40)
        let given = 0
        for (const { depth, resubmit, after, moment, transactions } of events) {
          await accept(store, sent.slice(given, given + transactions))
          given += transactions
          const height = chain.devnet.tip().height + after
          await until(async () => chain.devnet.tip().height >= height)
          await new Promise((resolve) => setTimeout(resolve, moment))
          await chain.devnet.rollBack(depth, { resubmit })
        }
        await until(() => everythingMerged(store))
        // A roll-back may still be unseen.
        await chain.mine(1)
        await until(() => everythingMerged(store))
        await expectAgreement(store, chain.layer1, roots, sent.slice(0, given))
      } finally {
        for (const end of closing.reverse()) await end()
      }
    }),
    { numRuns: runs, endOnFailure: true },
  )
})
