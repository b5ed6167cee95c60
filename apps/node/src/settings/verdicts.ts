import { summonsTerms } from '@ratatosk/protocol'
import { claimPolicies } from './rollup-settings.js'
import type { Settings } from './schema.js'

/**
 * The names in VERDICT_POLICIES but `none`, or its default. A devnet has the summons by default if its window
 * leaves time for answers.
 */
export function verdictsOf({
  VERDICT_POLICIES: named,
  NETWORK,
  MATURITY_WINDOW_MS,
}: Pick<Settings, 'VERDICT_POLICIES' | 'NETWORK' | 'MATURITY_WINDOW_MS'>): readonly string[] {
  if (named !== undefined) return named.filter((name) => name !== 'none')
  if (NETWORK === 'mainnet') return []
  const { period } = summonsTerms(BigInt(MATURITY_WINDOW_MS))
  return period > 0n ? [...claimPolicies, 'summons'] : claimPolicies
}
