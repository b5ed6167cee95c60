import { createHmac, pbkdf2Sync } from 'node:crypto'
import { publicKeyOfScalar } from './extended-signature.js'

/** From this index on, a derivation needs the private key. */
export const hardenedOffset = 0x8000_0000

/** A private key of BIP32-Ed25519: scalar and nonce key (little-endian) and chain code, 32 bytes each. */
export interface ExtendedPrivateKey {
  readonly scalar: Uint8Array
  readonly nonceKey: Uint8Array
  readonly chainCode: Uint8Array
}

/** The root key of an entropy, by Icarus (CIP-3): PBKDF2-HMAC-SHA512, 4096 rounds, the entropy as salt. */
export function icarusRootKey(entropy: Uint8Array): ExtendedPrivateKey {
  const key = pbkdf2Sync(new Uint8Array(0), entropy, 4096, 96, 'sha512')
  key[0] = (key[0] as number) & 0b1111_1000
  key[31] = ((key[31] as number) & 0b0001_1111) | 0b0100_0000
  return split(key)
}

/** A derivation step (BIP32-Ed25519 version 2, as on Cardano); from {@link hardenedOffset} on, hardened. */
export function deriveChild(parent: ExtendedPrivateKey, index: number): ExtendedPrivateKey {
  const hardened = index >= hardenedOffset
  const material = hardened ? [parent.scalar, parent.nonceKey] : [publicKeyOfScalar(parent.scalar)]
  const suffix = Buffer.alloc(4)
  suffix.writeUInt32LE(index)
  const hash = (tag: number): Buffer => {
    const mac = createHmac('sha512', parent.chainCode).update(Uint8Array.of(tag))
    for (const part of material) mac.update(part)
    return mac.update(suffix).digest()
  }
  const z = hash(hardened ? 0 : 2)
  const chainCode = hash(hardened ? 1 : 3).subarray(32)
  return {
    scalar: addLittleEndian(parent.scalar, z.subarray(0, 28), 8),
    nonceKey: addLittleEndian(parent.nonceKey, z.subarray(32), 1),
    chainCode: Uint8Array.from(chainCode),
  }
}

/** `a + factor × b` modulo 2^256, little-endian, 32 bytes. */
function addLittleEndian(a: Uint8Array, b: Uint8Array, factor: number): Uint8Array {
  const sum = new Uint8Array(32)
  let carry = 0
  for (let i = 0; i < 32; i++) {
    const total = (a[i] ?? 0) + factor * (b[i] ?? 0) + carry
    sum[i] = total & 0xff
    carry = total >> 8
  }
  return sum
}

function split(key: Uint8Array): ExtendedPrivateKey {
  return {
    scalar: Uint8Array.from(key.subarray(0, 32)),
    nonceKey: Uint8Array.from(key.subarray(32, 64)),
    chainCode: Uint8Array.from(key.subarray(64)),
  }
}
