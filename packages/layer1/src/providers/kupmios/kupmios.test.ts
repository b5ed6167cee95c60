import { describe, it } from 'vitest'
import { providerSuite } from '../../provider-suite/index.js'
import { openHarness, serveApis } from '../../test/devnet-harness.js'
import { createKupmiosLayer1 } from './create-kupmios-layer1.js'

describe('Kupo and Ogmios', () => {
  const suite = providerSuite((options) =>
    openHarness(options, async (devnet, limits) => {
      const { kupo, ogmios, close } = await serveApis(devnet)
      const layer1 = createKupmiosLayer1({ ...limits, kupoUrl: kupo, ogmiosUrl: ogmios, networkMagic: 42 })
      return { layer1, target: 'kupmios', close }
    }),
  )
  it.each(suite)('$name', ({ run }) => run())
})
