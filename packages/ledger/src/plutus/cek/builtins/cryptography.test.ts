import { createHash, generateKeyPairSync, sign as signWith } from 'node:crypto'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import { toHex } from '@ratatosk/cbor'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BuiltinName, builtinNames } from '../builtin-names.js'
import { EvaluationFailure } from '../failures.js'
import { builtins } from '../machine.js'
import { bytesConstant, Constant, type Content } from '../values/constant.js'
import { g1ListType, g1Type, g2Type, integerListType } from '../values/constant-type.js'
import type { Value } from '../values/value.js'
import type { Semantics } from './builtin.js'

const semantics: Semantics = { bytesAreChecked: true, bounded: true, trace: () => {} }

function run(name: BuiltinName, ...args: Value[]): Content {
  const value = builtins[builtinNames.indexOf(name)]!.run(args, semantics)
  return (value as Constant).content
}

function failing(name: BuiltinName, ...args: Value[]): void {
  expect(() => run(name, ...args)).toThrow(EvaluationFailure)
}

const bytes = bytesConstant

/** The bits of a byte string as a number. */
const numberOf = (value: Uint8Array): bigint => BigInt(`0x0${toHex(value)}`)
describe('signatures', () => {
  const message = new Uint8Array(createHash('sha256').update('message').digest())
  const secret = new Uint8Array(32).fill(7)

  test('Ed25519: verifies signatures of OpenSSL', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const key = new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32))
    const signature = new Uint8Array(signWith(null, message, privateKey))
    expect(run('verifyEd25519Signature', bytes(key), bytes(message), bytes(signature))).toBe(true)
    expect(run('verifyEd25519Signature', bytes(key), bytes(message.slice(1)), bytes(signature))).toBe(false)
    failing('verifyEd25519Signature', bytes(key.slice(1)), bytes(message), bytes(signature))
  })

  test('ECDSA: fails on invalid encodings, and returns false for a wrong signature', () => {
    const key = secp256k1.getPublicKey(secret)
    const signature = secp256k1.sign(message, secret, { prehash: false })
    const verify = (k: Uint8Array, m: Uint8Array, s: Uint8Array) =>
      run('verifyEcdsaSecp256k1Signature', bytes(k), bytes(m), bytes(s))
    expect(verify(key, message, signature)).toBe(true)
    expect(
      verify(
        key,
        message.map((byte) => byte ^ 1),
        signature,
      ),
    ).toBe(false)
    const order = secp256k1.Point.Fn.ORDER
    const high = Uint8Array.from(signature)
    high.set(Buffer.from((order - numberOf(signature.slice(32))).toString(16).padStart(64, '0'), 'hex'), 32)
    expect(verify(key, message, high)).toBe(false)
    expect(verify(key, message, new Uint8Array(64))).toBe(false)
    expect(() => verify(key, message, new Uint8Array(64).fill(255))).toThrow(EvaluationFailure)
    expect(() => verify(new Uint8Array(33).fill(5), message, signature)).toThrow(EvaluationFailure)
    expect(() => verify(secp256k1.getPublicKey(secret, false), message, signature)).toThrow(EvaluationFailure)
    expect(() => verify(key, message.slice(1), signature)).toThrow(EvaluationFailure)
  })

  test('Schnorr: verifies messages of any length', () => {
    const key = schnorr.getPublicKey(secret)
    const long = new Uint8Array(100).fill(3)
    const verify = (k: Uint8Array, s: Uint8Array) =>
      run('verifySchnorrSecp256k1Signature', bytes(k), bytes(long), bytes(s))
    expect(verify(key, schnorr.sign(long, secret))).toBe(true)
    expect(verify(key, new Uint8Array(64).fill(255))).toBe(false)
    expect(() => verify(new Uint8Array(32).fill(255), new Uint8Array(64))).toThrow(EvaluationFailure)
  })
})

describe('curves', () => {
  test('hash to both groups as Noble does', () => {
    const tag = new Uint8Array(Buffer.from('a tag'))
    for (const message of [new Uint8Array(), new Uint8Array(100).fill(5)]) {
      for (const [name, group] of [
        ['bls12_381_G1_hashToGroup', bls12_381.G1],
        ['bls12_381_G2_hashToGroup', bls12_381.G2],
      ] as const) {
        const point = run(name, bytes(message), bytes(tag)) as { toHex(): string }
        expect(point.toHex()).toBe(group.hashToCurve(message, { DST: tag }).toHex())
      }
    }
    failing('bls12_381_G1_hashToGroup', bytes(new Uint8Array()), bytes(new Uint8Array(256)))
  })

  test('compress points as Noble does', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 250n }), (scalar) => {
        for (const [name, group, type] of [
          ['bls12_381_G1_compress', bls12_381.G1, g1Type],
          ['bls12_381_G2_compress', bls12_381.G2, g2Type],
        ] as const) {
          const point = group.Point.BASE.multiply(scalar)
          expect(toHex(run(name, new Constant(type, point)) as Uint8Array)).toBe(point.toHex(true))
        }
      }),
      { numRuns: 20 },
    )
  })

  test('an empty list of points of one group is not accepted for the other', () => {
    const scalars = new Constant(integerListType, null)
    failing('bls12_381_G2_multiScalarMul', scalars, new Constant(g1ListType, null))
  })
})
