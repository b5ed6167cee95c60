import { afterAll, describe, it } from 'vitest'
import { providerSuite } from '../../provider-suite/index.js'
import { serveFaces } from '../../test/devnet-faces.js'
import { evaluator, openHarness } from '../../test/devnet-harness.js'
import { createKupmiosLayer1 } from './create-kupmios-layer1.js'

afterAll(() => evaluator.close())

describe('Kupo and Ogmios', () => {
  const suite = providerSuite(() =>
    openHarness(async (devnet, limits) => {
      const { kupo, ogmios, close } = await serveFaces(devnet)
      const layer1 = createKupmiosLayer1({ ...limits, kupoUrl: kupo, ogmiosUrl: ogmios, networkMagic: 42 })
      return { layer1, face: 'kupmios', close }
    }),
  )
  it.each(suite)('$name', ({ run }) => run())
})
