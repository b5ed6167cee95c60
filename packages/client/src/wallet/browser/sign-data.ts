import { CborWriter, equalBytes, fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import { type Address, decodeAddress, decodeBech32Address, isAddressError } from '@ratatosk/ledger'
import { cip30Error, invalidRequest } from '../errors.js'
import { bytesOfHex } from '../ledger-client.js'
import type { DataSignature } from '../types.js'
import type { BrowserKey } from './signing-key.js'

/** Labels and values of COSE (RFC 9052, RFC 9053). */
const cose = { alg: 1, kty: 1, keyAlg: 3, crv: -1, x: -2, edDsa: -8, okp: 1, ed25519: 6 } as const

/**
 * Signs data (CIP-8, CIP-30): a COSE_Sign1 whose protected header names the algorithm and the address.
 * @param address hex or bech32; of the payment key or of the stake account
 */
export function signData(keys: readonly BrowserKey[], address: unknown, payload: unknown): DataSignature {
  const message = bytesOfHex(payload, 'payload')
  const { bytes, credential } = credentialOf(readAddress(address))
  if (credential?.kind !== 'key') {
    throw cip30Error('DataSignError', 'AddressNotPK', 'The address does not belong to a key')
  }
  const key = keys.find(({ hash }) => equalBytes(hash, credential.hash))
  if (key === undefined) {
    throw cip30Error(
      'DataSignError',
      'ProofGeneration',
      `The wallet does not have the key ${toHex(credential.hash)}`,
    )
  }
  const header = new CborWriter().map(2).int(cose.alg).int(cose.edDsa).text('address').bytes(bytes).toBytes()
  const signed = new CborWriter()
    .array(4)
    .text('Signature1')
    .bytes(header)
    .bytes(new Uint8Array(0))
    .bytes(message)
  const sign1 = new CborWriter().array(4).bytes(header).map(1).text('hashed').boolean(false).bytes(message)
  const coseKey = new CborWriter().map(4).int(cose.kty).int(cose.okp).int(cose.keyAlg).int(cose.edDsa)
  coseKey.int(cose.crv).int(cose.ed25519).int(cose.x).bytes(key.publicKey)
  return {
    signature: toHex(sign1.bytes(key.sign(signed.toBytes())).toBytes()),
    key: toHex(coseKey.toBytes()),
  }
}

function readAddress(address: unknown): Address {
  try {
    if (typeof address !== 'string') throw invalidRequest('address must be hex or bech32')
    return /^([0-9a-f]{2})+$/i.test(address)
      ? decodeAddress(fromHex(address.toLowerCase()))
      : decodeBech32Address(address)
  } catch (error) {
    if (!isAddressError(error) && !isDecodeError(error)) throw error
    throw invalidRequest(`address is neither hex nor bech32 of an address: ${error.message}`)
  }
}

function credentialOf(address: Address) {
  if (address.kind === 'byron') return { bytes: address.bytes, credential: undefined }
  const credential = address.kind === 'reward' ? address.stake : address.payment
  return { bytes: address.bytes, credential }
}
