import { chainCases } from './chain-cases.js'
import { failureCases } from './failure-cases.js'
import type { HarnessOptions, ProviderHarness, SuiteCase, WithHarness } from './harness.js'
import { transactionCases } from './transaction-cases.js'

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
  const withHarness: WithHarness = async (run, options = { shortTimeouts: false }) => {
    const harness = await open(options)
    try {
      await run(harness)
    } finally {
      await harness.close()
    }
  }
  return [...chainCases(withHarness), ...transactionCases(withHarness), ...failureCases(withHarness)]
}
