import type { ChainView } from '../../view/chain-view.js'

export function utcTime(milliseconds: bigint): string {
  return new Date(Number(milliseconds)).toISOString().replace(/\.000Z$/, 'Z')
}

/** The network that Ogmios would name. */
export function networkName({ networkId }: Pick<ChainView, 'networkId'>): 'mainnet' | 'testnet' {
  return networkId === 1 ? 'mainnet' : 'testnet'
}
