import { createHash } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { fromHex } from '@ratatosk/cbor'
import fc from 'fast-check'
import sodium from 'sodium-native'
import { describe, expect, it } from 'vitest'
import * as node from './node.js'
import * as web from './web.js'

/** The order of the base point. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n

/** All encodings of the points whose order divides 8, including those that are not canonical. */
const smallOrder = [
  ['identity', '0100000000000000000000000000000000000000000000000000000000000000'],
  ['order 2', 'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
  ['order 4', '0000000000000000000000000000000000000000000000000000000000000000'],
  ['order 4, negative', '0000000000000000000000000000000000000000000000000000000000000080'],
  ['order 8', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'],
  ['order 8, negative', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85'],
  ['order 8, other', 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'],
  ['order 8, other, negative', 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa'],
  ['identity, y over p', 'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
  ['identity, y over p, negative', 'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff'],
  ['identity, negative', '0100000000000000000000000000000000000000000000000000000000000080'],
  ['order 2, negative', 'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff'],
  ['order 4, y is p', 'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
  ['order 4, y is p, negative', 'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff'],
] as const

const order8 = fromHex(smallOrder[4][1])

/** Every encoding whose y is not reduced: p to 2^255 − 1, with either sign. Few of them are points. */
const notReduced = Array.from({ length: 19 }, (_, i) => 2n ** 255n - 19n + BigInt(i)).flatMap((y) => [
  littleEndian(y),
  littleEndian(y + 2n ** 255n),
])

const key = keyPair(7)
const message = new Uint8Array(32).fill(3)
const signature = key.sign(message)

describe.each([
  ['libsodium', node],
  ['noble', web],
])('verifySignature by %s', (_, { verifySignature }) => {
  it('accepts an ordinary signature', () => {
    expect(verifySignature(signature, message, key.publicKey)).toBe(true)
  })

  it.each(smallOrder)('refuses a public key of small order: %s', (_, point) => {
    // With R = A = a point of small order and S = 0 the equation holds for some message, when h·A = −A.
    const publicKey = fromHex(point)
    for (let i = 0; i < 32; i++) {
      const signed = new Uint8Array(32).fill(i)
      expect(verifySignature(concat(fromHex(point), scalar(0n)), signed, publicKey)).toBe(false)
      expect(verifySignature(concat(fromHex(smallOrder[0][1]), scalar(0n)), signed, publicKey)).toBe(false)
    }
  })

  it('refuses R of small order, although the equation holds', () => {
    const R = fromHex(smallOrder[0][1])
    const odd = concat(R, scalar(key.secret * challenge(R, key.publicKey, message)))
    // noble as ZIP 215 defines it checks only the equation, so this shows that it holds.
    expect(ed25519.verify(odd, message, key.publicKey, { zip215: true })).toBe(true)
    expect(verifySignature(odd, message, key.publicKey)).toBe(false)
  })

  it.each([
    ['y over p', smallOrder[8][1]],
    ['negative zero', smallOrder[10][1]],
  ])('refuses an encoding of R that is not canonical: %s', (_, point) => {
    const R = fromHex(point)
    const odd = concat(R, scalar(key.secret * challenge(R, key.publicKey, message)))
    expect(verifySignature(odd, message, key.publicKey)).toBe(false)
  })

  it.each([1n, 2n, 15n])('refuses S that is not reduced: S + %i L', (multiple) => {
    const S = numberOf(signature.subarray(32)) + multiple * L
    const odd = concat(signature.subarray(0, 32), littleEndian(S))
    expect(verifySignature(odd, message, key.publicKey)).toBe(false)
  })

  it('refuses S that is L itself, in place of zero', () => {
    const R = fromHex(smallOrder[0][1])
    expect(verifySignature(concat(R, littleEndian(L)), message, key.publicKey)).toBe(false)
  })

  it('uses the equation without the cofactor for a public key of mixed order', () => {
    const mixed = add(key.publicKey, order8)
    const seen = { multiple: false, other: false }
    for (let nonce = 1; nonce <= 200 && !(seen.multiple && seen.other); nonce++) {
      const r = keyPair(1000 + nonce)
      const h = challenge(r.publicKey, mixed, message)
      const odd = concat(r.publicKey, scalar(r.secret + h * key.secret))
      // The two sides of the equation differ by h times a point of order 8, which is zero if 8 divides h.
      const holds = h % 8n === 0n
      expect(verifySignature(odd, message, mixed)).toBe(holds)
      if (holds) seen.multiple = true
      else seen.other = true
    }
    expect(seen).toEqual({ multiple: true, other: true })
  })

  it('uses the equation without the cofactor for R of mixed order', () => {
    const r = keyPair(77)
    const R = add(r.publicKey, order8)
    const odd = concat(R, scalar(r.secret + challenge(R, key.publicKey, message) * key.secret))
    // Multiplied by the cofactor, the equation holds.
    expect(verifySignature(odd, message, key.publicKey)).toBe(false)
  })

  it('refuses bytes that are not a point, and wrong lengths', () => {
    const notOnTheCurve = fromHex(`02${'00'.repeat(31)}`)
    expect(verifySignature(signature, message, notOnTheCurve)).toBe(false)
    expect(verifySignature(signature.subarray(0, 63), message, key.publicKey)).toBe(false)
    expect(verifySignature(signature, message, key.publicKey.subarray(0, 31))).toBe(false)
    expect(verifySignature(concat(signature, Uint8Array.of(0)), message, key.publicKey)).toBe(false)
  })

  it('refuses the signature of another message, and one with any bit changed', () => {
    expect(verifySignature(signature, new Uint8Array(32).fill(4), key.publicKey)).toBe(false)
    for (let bit = 0; bit < 512; bit++) {
      const odd = Uint8Array.from(signature)
      odd[bit >> 3]! ^= 1 << (bit & 7)
      expect(verifySignature(odd, message, key.publicKey)).toBe(false)
    }
  })
})

describe('noble agrees with libsodium', () => {
  const agree = (candidate: Uint8Array, signed: Uint8Array, publicKey: Uint8Array): boolean => {
    const decision = node.verifySignature(candidate, signed, publicKey)
    expect(web.verifySignature(candidate, signed, publicKey)).toBe(decision)
    return decision
  }

  it('for every pair of small-order or unreduced encodings of the key and R', () => {
    const encodings = [...smallOrder.map(([, point]) => fromHex(point)), ...notReduced]
    for (const publicKey of encodings) {
      for (const R of encodings) agree(concat(R, scalar(0n)), message, publicKey)
      const h = challenge(publicKey, publicKey, message)
      agree(concat(key.publicKey, scalar(key.secret + h)), message, publicKey)
    }
    for (const R of encodings) {
      const S = scalar(key.secret * challenge(R, key.publicKey, message))
      agree(concat(R, S), message, key.publicKey)
    }
  })

  it('for keys and R with every torsion component', () => {
    const torsion = Array.from({ length: 8 }, (_, i) => multiple(order8, i))
    const decisions = { true: 0, false: 0 }
    for (const [i, a] of torsion.entries()) {
      for (const [j, b] of torsion.entries()) {
        for (let nonce = 0; nonce < 8; nonce++) {
          const r = keyPair(10_000 + 64 * i + 8 * j + nonce)
          const [publicKey, R] = [add(key.publicKey, a), add(r.publicKey, b)]
          const S = scalar(r.secret + challenge(R, publicKey, message) * key.secret)
          decisions[`${agree(concat(R, S), message, publicKey)}`]++
        }
      }
    }
    expect(decisions.true).toBeGreaterThan(16)
    expect(decisions.false).toBeGreaterThan(256)
  })

  it('for valid and corrupted signatures of any message', () => {
    const damage = fc.array(fc.tuple(fc.nat(127), fc.nat(255)), { maxLength: 2 })
    fc.assert(
      fc.property(fc.nat(), fc.uint8Array({ maxLength: 200 }), damage, (seed, signed, changes) => {
        const pair = keyPair(seed)
        const all = concat(pair.sign(signed), pair.publicKey, signed)
        for (const [at, byte] of changes) if (at < all.length) all[at] = byte
        const decision = agree(all.subarray(0, 64), all.subarray(96), all.subarray(64, 96))
        if (changes.length === 0) expect(decision).toBe(true)
      }),
    )
  })

  it.each([
    ['Blake2b-160', node.blake2b160, web.blake2b160, 20],
    ['Blake2b-224', node.blake2b224, web.blake2b224, 28],
    ['Blake2b-256', node.blake2b256, web.blake2b256, 32],
    ['RIPEMD-160', node.ripemd160, web.ripemd160, 20],
    ['SHA-256', node.sha256, web.sha256, 32],
    ['SHA3-256', node.sha3_256, web.sha3_256, 32],
  ])('and computes the same %s', (_, native, portable, length) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (input) => {
        expect(portable(input)).toEqual(native(input))
        expect(portable(input)).toHaveLength(length)
      }),
    )
  })
})

interface KeyPair {
  readonly publicKey: Uint8Array
  readonly secret: bigint
  sign(message: Uint8Array): Uint8Array
}

function keyPair(seed: number): KeyPair {
  const publicKey = Buffer.alloc(32)
  const secretKey = Buffer.alloc(64)
  const seedBytes = createHash('sha256').update(String(seed)).digest()
  sodium.crypto_sign_seed_keypair(publicKey, secretKey, seedBytes)
  const half = createHash('sha512').update(seedBytes).digest().subarray(0, 32)
  half[0]! &= 248
  half[31] = (half[31]! & 63) | 64
  return {
    publicKey: new Uint8Array(publicKey),
    secret: numberOf(half),
    sign(message) {
      const signature = Buffer.alloc(64)
      sodium.crypto_sign_detached(signature, Buffer.from(message), secretKey)
      return new Uint8Array(signature)
    },
  }
}

/** h of RFC 8032: SHA-512 of R, A and the message, modulo L. */
function challenge(R: Uint8Array, A: Uint8Array, message: Uint8Array): bigint {
  return numberOf(createHash('sha512').update(R).update(A).update(message).digest()) % L
}

function add(a: Uint8Array, b: Uint8Array): Uint8Array {
  const sum = Buffer.alloc(32)
  sodium.crypto_core_ed25519_add(sum, Buffer.from(a), Buffer.from(b))
  return new Uint8Array(sum)
}

function multiple(point: Uint8Array, times: number): Uint8Array {
  const identity = fromHex(smallOrder[0][1])
  return Array.from({ length: times }).reduce<Uint8Array>((sum) => add(sum, point), identity)
}

function scalar(value: bigint): Uint8Array {
  return littleEndian(((value % L) + L) % L)
}

function littleEndian(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn))
}

function numberOf(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n)
}

function concat(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts))
}
