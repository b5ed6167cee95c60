import { concatBytes } from '@ratatosk/cbor'
import type { Credential, ShelleyAddress } from './types.js'

/**
 * Builds the address (CIP-19) of a payment key: a base address if `stake` is given, otherwise an enterprise
 * address.
 *
 * @param paymentKeyHash Blake2b-224 of the verification key, 28 bytes
 * @param networkId 0 for test networks, 1 for mainnet
 * @throws RangeError if a hash does not have 28 bytes
 * @example
 * encodeBech32Address(keyAddress(blake2b224(publicKey), 0)) // 'addr_test1v…'
 */
export function keyAddress(paymentKeyHash: Uint8Array, networkId: 0 | 1, stake?: Credential): ShelleyAddress {
  return shelleyAddress({ kind: 'key', hash: paymentKeyHash }, networkId, stake)
}

/**
 * Builds the address (CIP-19) of a script: a base address if `stake` is given, otherwise an enterprise
 * address.
 *
 * @param hash the script hash, 28 bytes
 * @param networkId 0 for test networks, 1 for mainnet
 * @throws RangeError if a hash does not have 28 bytes
 */
export function scriptAddress(hash: Uint8Array, networkId: 0 | 1, stake?: Credential): ShelleyAddress {
  return shelleyAddress({ kind: 'script', hash }, networkId, stake)
}

function shelleyAddress(payment: Credential, networkId: 0 | 1, stake?: Credential): ShelleyAddress {
  for (const { hash } of stake === undefined ? [payment] : [payment, stake]) {
    if (hash.length !== 28) throw new RangeError(`A credential is a hash of 28 bytes, not ${hash.length}`)
  }
  const script = payment.kind === 'script' ? 0x10 : 0
  if (stake === undefined) {
    const bytes = concatBytes(Uint8Array.of(0x60 | script | networkId), payment.hash)
    return { kind: 'enterprise', bytes, networkId, payment }
  }
  const header = (stake.kind === 'script' ? 0x20 : 0) | script | networkId
  const bytes = concatBytes(Uint8Array.of(header), payment.hash, stake.hash)
  return { kind: 'base', bytes, networkId, payment, stake }
}
