import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { blake2b224 } from '@ratatosk/ledger'

export interface TestKey {
  readonly publicKey: Uint8Array
  readonly hash: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

/** The DER header before the seed of an Ed25519 private key in PKCS #8 (RFC 8410). */
const privateKeyHead = Buffer.from('302e020100300506032b657004220420', 'hex')

export function testKey(name: string): TestKey {
  const seed = createHash('sha256').update(name).digest()
  const key: KeyObject = createPrivateKey({
    key: Buffer.concat([privateKeyHead, seed]),
    format: 'der',
    type: 'pkcs8',
  })
  const exported = createPublicKey(key).export({ format: 'der', type: 'spki' })
  const publicKey = new Uint8Array(exported.subarray(-32))
  return {
    publicKey,
    hash: blake2b224(publicKey),
    sign: (message) => new Uint8Array(sign(null, message, key)),
  }
}
