import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { fromHex } from '@ratatosk/cbor'
import { bech32 } from 'bech32'
import { blake2b224, encodeBech32Address, keyAddress } from '../../index.js'
import { WalletError } from '../errors.js'
import { publicKeyOfScalar, signExtended } from './extended-signature.js'
import type { NetworkId, SigningKey, WalletKeys } from './types.js'

/** The PKCS #8 prefix of an Ed25519 seed (RFC 8410). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * The keys of a wallet with one payment key, at its enterprise address.
 *
 * @param key bech32 `ed25519_sk` (32 bytes) or `ed25519e_sk` (64 bytes, extended), the same in hex, or the
 *   `cborHex` of a
 *   key file of cardano-cli
 * @throws {WalletError} `WALLET_INVALID_KEY`
 * @example const keys = keysFromSigningKey('ed25519_sk1…', { networkId: 0 })
 */
export function keysFromSigningKey(key: string, options: { readonly networkId: NetworkId }): WalletKeys {
  return walletKeys(signingKey(key), options.networkId)
}

/** Builds a wallet's address from a payment key and an optional stake key hash (CIP-19). */
export function walletKeys(payment: SigningKey, networkId: NetworkId, stakeHash?: Uint8Array): WalletKeys {
  const stake = stakeHash && ({ kind: 'key', hash: stakeHash } as const)
  const address = keyAddress(payment.hash, networkId, stake)
  return { payment, address, addressText: encodeBech32Address(address) }
}

/**
 * Reads a signing key, as {@link keysFromSigningKey}.
 *
 * @throws {WalletError} `WALLET_INVALID_KEY`
 */
export function signingKey(text: string): SigningKey {
  const bytes = keyBytes(text.trim())
  if (bytes.length === 32) return keyOfSeed(bytes)
  const scalar = bytes.subarray(0, 32)
  // BIP32-Ed25519 keeps these bits through every derivation; other scalars could lie in a small subgroup.
  if (((scalar[0] ?? 0) & 0b111) !== 0 || ((scalar[31] ?? 0) & 0b1100_0000) !== 0b0100_0000) {
    throw invalidKey('it is not an extended Ed25519 key')
  }
  return keyOfScalar(scalar, bytes.subarray(32, 64))
}

/** The signing key of an extended private key's two halves. */
export function keyOfScalar(scalar: Uint8Array, nonceKey: Uint8Array): SigningKey {
  const publicKey = publicKeyOfScalar(scalar)
  return {
    publicKey,
    hash: blake2b224(publicKey),
    sign: (message) => signExtended(scalar, nonceKey, publicKey, message),
  }
}

function keyOfSeed(seed: Uint8Array): SigningKey {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  const publicKey = Uint8Array.from(spki.subarray(-32))
  return {
    publicKey,
    hash: blake2b224(publicKey),
    sign: (message) => Uint8Array.from(sign(null, message, key)),
  }
}

function keyBytes(text: string): Uint8Array {
  if (/^ed25519e?_sk1/.test(text)) return keyOfBech32(text)
  // A key file's CBOR: a byte string of 32 bytes, or of 64, 96 or 128 (extended, with chain code, with public
  // key).
  const hex = /^(?:5820|5840)?([0-9a-f]{64}|[0-9a-f]{128})$|^5880([0-9a-f]{128})[0-9a-f]{128}$/i.exec(text)
  const digits = hex?.[1] ?? hex?.[2]
  if (digits === undefined) throw invalidKey('it is neither bech32 nor hex of 32 or 64 bytes')
  return fromHex(digits)
}

function keyOfBech32(text: string): Uint8Array {
  let decoded: { readonly prefix: string; readonly bytes: Uint8Array }
  try {
    const { prefix, words } = bech32.decode(text, 200)
    decoded = { prefix, bytes: Uint8Array.from(bech32.fromWords(words)) }
  } catch {
    // The library's reason quotes the text, so it is not passed on.
    throw invalidKey('its bech32 is damaged')
  }
  const expected = decoded.prefix === 'ed25519_sk' ? 32 : 64
  if (decoded.bytes.length !== expected) {
    throw invalidKey(`${decoded.bytes.length} bytes where its prefix promises ${expected}`)
  }
  return decoded.bytes
}

function invalidKey(reason: string): WalletError {
  return new WalletError('WALLET_INVALID_KEY', `The signing key cannot be read: ${reason}`)
}
