import { afterAll, describe, it } from 'vitest'
import { providerSuite } from '../../provider-suite/index.js'
import { serveFaces } from '../../test/devnet-faces.js'
import { evaluator, openHarness } from '../../test/devnet-harness.js'
import { createBlockfrostLayer1 } from './create-blockfrost-layer1.js'

afterAll(() => evaluator.close())

describe('Blockfrost', () => {
  const suite = providerSuite(() =>
    openHarness(async (devnet, limits) => {
      const { blockfrost, close } = await serveFaces(devnet)
      const layer1 = createBlockfrostLayer1({
        ...limits,
        url: blockfrost,
        projectId: 'secret',
        networkMagic: 42,
      })
      return { layer1, face: 'blockfrost', close }
    }),
  )
  it.each(suite)('$name', ({ run }) => run())
})
