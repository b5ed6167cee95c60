import { oneOf } from './options.js'

/** The network whose addresses a plugin accepts. All test networks share one network id (CIP-19). */
export type AddressNetwork = 'mainnet' | 'testnet'

/** The network id in the addresses of a network (CIP-19). */
export const networkIds: Readonly<Record<AddressNetwork, number>> = { testnet: 0, mainnet: 1 }

/** Rule of an option that is an {@link AddressNetwork}. */
export const addressNetwork = () => oneOf('mainnet', 'testnet')
