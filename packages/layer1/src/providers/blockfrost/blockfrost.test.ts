import { describe, it } from 'vitest'
import { providerSuite } from '../../provider-suite/index.js'
import { serveApis } from '../../test/devnet-apis.js'
import { openHarness } from '../../test/devnet-harness.js'
import { createBlockfrostLayer1 } from './create-blockfrost-layer1.js'

describe('Blockfrost', () => {
  const suite = providerSuite((options) =>
    openHarness(options, async (devnet, limits) => {
      const { blockfrost, close } = await serveApis(devnet)
      const layer1 = createBlockfrostLayer1({
        ...limits,
        url: blockfrost,
        projectId: 'secret',
        networkMagic: 42,
      })
      return { layer1, target: 'blockfrost', close }
    }),
  )
  it.each(suite)('$name', ({ run }) => run())
})
