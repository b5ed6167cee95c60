import { patienceOf, summonsTerms } from '@ratatosk/protocol'
import type { Settings } from './schema.js'
import { verdictsOf } from './verdicts.js'

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
