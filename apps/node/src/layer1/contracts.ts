import { type Contracts, openContracts } from '@ratatosk/layer1'
import type { Settings } from '../settings/schema.js'
import { administratorKeyHash } from './keys.js'
import { layer1NetworkId, settlesOnDevnet } from './layer1-network.js'

const dayMs = 86_400_000
const maxOperators = 100n

/** From a block's end until it may be merged, in milliseconds. */
export function maturityWindowMs(settings: Settings): number {
  return settings.MATURITY_WINDOW_MS ?? (settlesOnDevnet(settings) ? 30_000 : 7 * dayMs)
}

/** How long layer 1 may take to include a commitment, in milliseconds. */
export function blockValidityMs(settings: Settings): number {
  return settings.BLOCK_VALIDITY_MS ?? (settlesOnDevnet(settings) ? 10_000 : 120_000)
}

/** The contracts that the settings describe: other settings, other addresses. */
export function contractsOf(settings: Settings): Contracts {
  const maturityWindow = BigInt(maturityWindowMs(settings))
  const turnLength = BigInt(settings.OPERATOR_TURN_MS)
  return openContracts(
    {
      protocol: settings.PROTOCOL,
      administrator: administratorKeyHash(settings),
      maturityWindow,
      turnLength,
      bond: BigInt(settings.OPERATOR_BOND),
      // The contracts ask for no less: until then, a block of a retired operator can still be challenged.
      releaseDelay: maturityWindow + turnLength,
      maxOperators,
    },
    layer1NetworkId(settings),
  )
}
