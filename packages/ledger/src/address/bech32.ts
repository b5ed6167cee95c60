import { bech32 } from 'bech32'
import { AddressError } from '../errors.js'
import { decodeAddress } from './decode.js'
import type { Address, RewardAddress, ShelleyAddress } from './types.js'

/**
 * Reads an address from bech32 (CIP-5, CIP-19); BIP-173's limit of 90 characters does not apply.
 *
 * Which network it belongs to is in the result: a caller that serves one network compares `networkId`.
 *
 * @throws AddressError `not-bech32` where the text is none (so also for Byron's base58), `wrong-prefix` where the prefix names
 *   no address or not this kind of one, `wrong-network` where prefix and header disagree, and what {@link decodeAddress} throws
 * @example
 * const address = decodeBech32Address('addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz')
 * address.kind // 'enterprise'
 */
export function decodeBech32Address(text: string): Address {
  const { prefix, bytes } = decodeText(text)
  const match = /^(addr|stake)(_test)?$/.exec(prefix)
  if (match === null) throw new AddressError('wrong-prefix', 0, `no address has the prefix ${prefix}`)
  const address = decodeAddress(bytes)
  if (address.kind === 'byron' || (address.kind === 'reward') !== (match[1] === 'stake')) {
    throw new AddressError(
      'wrong-prefix',
      0,
      `the prefix ${prefix} before an address of kind ${address.kind}`,
    )
  }
  if ((address.networkId === 0) !== (match[2] !== undefined)) {
    throw new AddressError(
      'wrong-network',
      0,
      `the prefix ${prefix} before an address of network ${address.networkId}`,
    )
  }
  return address
}

/** Writes an address in bech32, with the prefix of its kind and network. Byron addresses have no bech32 form. */
export function encodeBech32Address(address: ShelleyAddress | RewardAddress): string {
  const prefix = (address.kind === 'reward' ? 'stake' : 'addr') + (address.networkId === 0 ? '_test' : '')
  return bech32.encode(prefix, bech32.toWords(address.bytes), Number.MAX_SAFE_INTEGER)
}

function decodeText(text: string): { prefix: string; bytes: Uint8Array } {
  try {
    const { prefix, words } = bech32.decode(text, Number.MAX_SAFE_INTEGER)
    return { prefix, bytes: Uint8Array.from(bech32.fromWords(words)) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'no bech32'
    throw new AddressError('not-bech32', 0, reason)
  }
}
