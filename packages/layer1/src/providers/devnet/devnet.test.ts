import { describe, it } from 'vitest'
import { providerSuite } from '../../provider-suite/index.js'
import { openHarness } from '../../test/devnet-harness.js'
import { createDevnetLayer1 } from './create-devnet-layer1.js'

describe('devnet in process', () => {
  const suite = providerSuite((options) =>
    openHarness(options, async (devnet, limits) => ({
      layer1: createDevnetLayer1(devnet, limits),
      target: 'client',
      close: async () => {},
    })),
  )
  it.each(suite)('$name', ({ run }) => run())
})
