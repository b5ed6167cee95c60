import type { NetworkName, Settings } from '../settings/schema.js'

/** The network magic of `@ratatosk/devnet`. */
export const devnetMagic = 42

/** Public ones as their genesis files have them. */
const magics: Readonly<Record<NetworkName, number>> = {
  devnet: devnetMagic,
  preview: 2,
  preprod: 1,
  mainnet: 764_824_073,
}

/** Which network a provider must serve. */
export function networkMagic({ NETWORK }: Pick<Settings, 'NETWORK'>): number {
  return magics[NETWORK]
}

/** In layer 1's addresses (CIP-19). A devnet is a test network, whatever the ledger above it calls itself. */
export function layer1NetworkId({
  NETWORK,
  LAYER1_PROVIDER,
}: Pick<Settings, 'NETWORK' | 'LAYER1_PROVIDER'>): 0 | 1 {
  return NETWORK === 'mainnet' && LAYER1_PROVIDER !== 'devnet' ? 1 : 0
}

/** Whether blocks are settled on a devnet, be it within the process or behind a provider. */
export function settlesOnDevnet({
  NETWORK,
  LAYER1_PROVIDER,
}: Pick<Settings, 'NETWORK' | 'LAYER1_PROVIDER'>): boolean {
  return NETWORK === 'devnet' || LAYER1_PROVIDER === 'devnet'
}
