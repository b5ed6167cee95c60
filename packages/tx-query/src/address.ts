import type { QueryValue } from '@ratatosk/http'
import { type Address, decodeBech32Address, isDecodeError } from '@ratatosk/ledger'
import { InvalidParameterError } from './errors.js'

/** Whose addresses are understood: every test network shares one network id (CIP-19). */
export type Network = 'mainnet' | 'testnet'

const networkIds = { testnet: 0, mainnet: 1 } as const

/**
 * Reads an address with a payment key credential, in bech32 of either case.
 *
 * @returns the bytes of the address (CIP-19)
 * @throws InvalidParameterError in three tiers: what is no string is an invalid address type; what is no bech32 or has no
 * payment key is an invalid address format; what is no address of this network is an invalid address
 */
export function readAddress(value: QueryValue, network: Network): Uint8Array {
  if (typeof value !== 'string') throw new InvalidParameterError('address type', value)
  const address = decode(value)
  if (!hasPaymentKey(address)) throw new InvalidParameterError('address format', value)
  if (address.networkId !== networkIds[network]) throw new InvalidParameterError('address', value)
  return address.bytes
}

function decode(value: string): Address {
  try {
    return decodeBech32Address(value)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new InvalidParameterError(error.code === 'not-bech32' ? 'address format' : 'address', value)
  }
}

function hasPaymentKey(address: Address): boolean {
  return 'payment' in address && address.payment.kind === 'key'
}
