import { patienceOf, summonsTerms } from '@ratatosk/protocol'
import { claimPolicies } from './rollup-settings.js'
import type { Settings } from './schema.js'

/** Milliseconds between the end of a block and the first deposit that it may not know. */
export const eventMarginMs = 5000
const usualWaitMs = 15_000

/** EVENT_WAIT_MS, or its default. */
export const eventWaitOf = ({
  EVENT_WAIT_MS,
  BLOCK_VALIDITY_MS,
}: Pick<Settings, 'EVENT_WAIT_MS' | 'BLOCK_VALIDITY_MS'>): number =>
  EVENT_WAIT_MS ?? Math.max(usualWaitMs, BLOCK_VALIDITY_MS + eventMarginMs)

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

/** In a window of this length, an operator has 22 s. */
const roomyWindowMs = 120_000

/** Why a watcher with these settings may harm honest operators; undefined if it does not. */
export function shortWindow(settings: Settings): string | undefined {
  const { MATURITY_WINDOW_MS } = settings
  const { WATCHER_PATIENCE_MS = Number(patienceOf(BigInt(MATURITY_WINDOW_MS))) } = settings
  if (MATURITY_WINDOW_MS >= roomyWindowMs || !verdictsOf(settings).includes('summons')) return undefined
  const seconds = (WATCHER_PATIENCE_MS + Number(summonsTerms(BigInt(MATURITY_WINDOW_MS)).period)) / 1000
  return (
    `MATURITY_WINDOW_MS is ${MATURITY_WINDOW_MS}: an honest operator who is down for ${seconds.toFixed(1)} ` +
    's, as in a restart, can lose a block and the bond to this watcher. Start a new devnet with a longer ' +
    'one, such as MATURITY_WINDOW_MS=600000, at each node'
  )
}
