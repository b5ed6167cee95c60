import fc from 'fast-check'
import { expect, it } from 'vitest'
import { mergeBlock } from './queue-drafts.js'
import { begin, commit, contracts, openScene } from './test/protocol-scene.js'

it('any sequence of commits and merges keeps the list equal to a model', async () => {
  const step = fc.constantFrom('commit' as const, 'merge' as const)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8, size: 'max' }), async (steps) => {
      const scene = await openScene()
      try {
        const { devnet, run, queue, slots } = scene
        const referenceScripts = await begin(scene, true)
        let confirmed = (await queue()).roots[0]!.datum.state.headerHash
        const waiting: Uint8Array[] = []
        for (const kind of steps) {
          if (kind === 'commit') waiting.push((await commit(scene, referenceScripts)).headerHash)
          else {
            scene.nextTurn()
            const merge = { queue: await queue(), slot: devnet.currentSlot(), slots, referenceScripts }
            const oldest = waiting.shift()
            if (oldest === undefined) expect(() => mergeBlock(contracts, merge)).toThrow('no block')
            else {
              await run(mergeBlock(contracts, merge))
              confirmed = oldest
            }
          }
          const { roots, blocks, strays, fault } = await queue()
          expect(blocks.map(({ headerHash }) => headerHash)).toEqual(waiting)
          expect(roots.map(({ datum }) => datum.state.headerHash)).toEqual([confirmed])
          expect({ strays, fault }).toEqual({ strays: [], fault: undefined })
        }
      } finally {
        await scene.devnet.close()
      }
    }),
    { numRuns: Number(process.env.LAYER1_PROPERTY_RUNS ?? 8) },
  )
})
