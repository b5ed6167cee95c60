import type { Settings } from '../settings/schema.js'

/** The remedy for an error of the layer-1 provider that the settings name. */
export function remedyOfLayer1(
  code: string,
  { LAYER1_PROVIDER, NETWORK }: Pick<Settings, 'LAYER1_PROVIDER' | 'NETWORK'>,
): string {
  const url = LAYER1_PROVIDER === 'blockfrost' ? 'BLOCKFROST_URL' : 'KUPO_URL and OGMIOS_URL'
  switch (code) {
    case 'LAYER1_UNREACHABLE':
    case 'LAYER1_TIMEOUT':
      return NETWORK === 'devnet'
        ? `Start it, or correct ${url}: a sequencer that takes over, with another address or DEVNET_PORT, ` +
            'moves the devnet.'
        : `Start it, or correct ${url}.`
    case 'LAYER1_WRONG_NETWORK':
      return `NETWORK is ${NETWORK}: correct NETWORK or ${url}.`
    case 'LAYER1_UNAUTHORIZED':
      return 'Correct BLOCKFROST_PROJECT_ID.'
    case 'LAYER1_RATE_LIMITED':
      return 'Wait, or use a project with a higher limit.'
    default:
      return `Check ${url}.`
  }
}
