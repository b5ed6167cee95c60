import type { Contracts, Layer1 } from '@ratatosk/layer1'
import type { Logger } from 'pino'
import type { ClosingStack } from '../parts/closing-stack.js'
import type { Parts } from '../parts/open-parts.js'
import type { Settings } from '../settings/schema.js'
import { contractsOf } from './contracts.js'
import { openLayer1 } from './open-layer1.js'

/** Where blocks are settled. */
export interface Settlement {
  readonly layer1: Layer1
  readonly contracts: Contracts
  /** Where layer 1 is, for people; without credentials. */
  readonly place: string
}

/**
 * Opens layer 1, and the contracts on it.
 *
 * @throws SettingsError on keys that are none
 */
export async function openSettlement(
  { settings, parts, log }: { readonly settings: Settings; readonly parts: Parts; readonly log: Logger },
  closing: ClosingStack,
): Promise<Settlement> {
  if (settings.NETWORK === 'mainnet' && settings.LAYER1_PROVIDER === 'devnet') {
    log.warn(
      'NETWORK is "mainnet" but LAYER1_PROVIDER is "devnet": blocks are committed to a devnet, which settles nothing',
    )
  }
  const contracts = contractsOf(settings)
  const { layer1, place } = await openLayer1(
    { settings, store: parts.store, embedded: parts.embedded?.pglite, log },
    closing,
  )
  return { layer1, contracts, place }
}
