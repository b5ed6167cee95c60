import { bech32 } from 'bech32'
import { AddressError } from '../errors.js'
import { decodeAddress } from './decode.js'
import type { Address, RewardAddress, ShelleyAddress } from './types.js'

/**
 * Decodes a bech32 address (CIP-5, CIP-19). BIP-173's limit of 90 characters does not apply.
 *
 * Accepts addresses of both networks; a caller that serves one network must check `networkId`.
 *
 * @param text `addr1…`, `addr_test1…`, `stake1…` or `stake_test1…`
 * @throws AddressError `ADDRESS_NOT_BECH32` if the text is not bech32 (Byron addresses are base58),
 *   `ADDRESS_WRONG_PREFIX` if the prefix is not that of an address or not that of this kind of address,
 *   `ADDRESS_WRONG_NETWORK` if prefix and header disagree, and the errors of {@link decodeAddress}
 * @example
 * const address = decodeBech32Address('addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz')
 * address.kind // 'enterprise'
 */
export function decodeBech32Address(text: string): Address {
  const { prefix, bytes } = decodeText(text)
  const match = /^(addr|stake)(_test)?$/.exec(prefix)
  if (match === null) throw new AddressError('ADDRESS_WRONG_PREFIX', 0, `no address has the prefix ${prefix}`)
  const address = decodeAddress(bytes)
  if (address.kind === 'byron' || (address.kind === 'reward') !== (match[1] === 'stake')) {
    throw new AddressError(
      'ADDRESS_WRONG_PREFIX',
      0,
      `the prefix ${prefix} before an address of kind ${address.kind}`,
    )
  }
  if ((address.networkId === 0) !== (match[2] !== undefined)) {
    throw new AddressError(
      'ADDRESS_WRONG_NETWORK',
      0,
      `the prefix ${prefix} before an address of network ${address.networkId}`,
    )
  }
  return address
}

/**
 * Encodes an address in bech32 (CIP-5): prefix `addr` or `stake`, with `_test` for test networks. Byron
 * addresses have no bech32 form.
 */
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
    throw new AddressError('ADDRESS_NOT_BECH32', 0, reason)
  }
}
