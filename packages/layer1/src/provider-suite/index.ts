import { chainScenes } from './chain-cases.js'
import { failureScenes, faultScenes } from './failure-cases.js'
import type { HarnessOptions, ProviderHarness, Scenes, SuiteCase } from './harness.js'
import { transactionScenes } from './transaction-cases.js'

export type * from './harness.js'

/**
 * Test cases that every implementation of `Layer1` must pass.
 *
 * @param open starts a new network for one case
 * @example
 * import { providerSuite } from '@ratatosk/layer1/provider-suite'
 * for (const { name, run } of providerSuite(openHarness)) test(name, run)
 */
export function providerSuite(
  open: (options: HarnessOptions) => Promise<ProviderHarness>,
): readonly SuiteCase[] {
  const scene = (name: string, run: Scenes[string], shortTimeouts = false): SuiteCase => ({
    name,
    async run() {
      const harness = await open({ shortTimeouts })
      try {
        await run(harness)
      } finally {
        await harness.close()
      }
    },
  })
  const scenes = Object.entries({ ...chainScenes, ...transactionScenes, ...failureScenes })
  return [
    ...scenes.map(([name, run]) => scene(name, run)),
    ...faultScenes.map(({ name, fault, run }) => scene(name, run, fault === 'time-out')),
  ]
}
