import { chainCases } from './chain-cases.js'
import { failureCases } from './failure-cases.js'
import type { ProviderHarness, SuiteCase, WithHarness } from './harness.js'
import { transactionCases } from './transaction-cases.js'

export type * from './harness.js'

/**
 * What every implementation of `Layer1` does, on a network of its own: whoever writes another one runs the same suite.
 *
 * @param open a fresh network for each case
 * @example
 * import { providerSuite } from '@ratatosk/layer1/provider-suite'
 * for (const { name, run } of providerSuite(openHarness)) test(name, run)
 */
export function providerSuite(open: () => Promise<ProviderHarness>): readonly SuiteCase[] {
  const withHarness: WithHarness = async (run) => {
    const harness = await open()
    try {
      await run(harness)
    } finally {
      await harness.close()
    }
  }
  return [...chainCases(withHarness), ...transactionCases(withHarness), ...failureCases(withHarness)]
}
