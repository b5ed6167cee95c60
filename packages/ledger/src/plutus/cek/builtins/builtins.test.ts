import { createHash, generateKeyPairSync, sign as signWith } from 'node:crypto'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import { toHex } from '@ratatosk/cbor'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BuiltinName, builtinNames } from '../builtin-names.js'
import { EvaluationFailure } from '../failures.js'
import { builtins } from '../machine.js'
import {
  boolConstant,
  bytesConstant,
  type Coins,
  Constant,
  type Content,
  integerConstant,
} from '../values/constant.js'
import { boolType, g1ListType, g1Type, g2Type, integerListType, valueType } from '../values/constant-type.js'
import { listOf } from '../values/list.js'
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

const int = integerConstant
const bytes = bytesConstant
const bytesOf = fc.uint8Array({ maxLength: 40 })
const bigIntegers = fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n })

/** The bits of a byte string as a number. */
const numberOf = (value: Uint8Array): bigint => BigInt(`0x0${toHex(value)}`)
const ones = (value: Uint8Array): bigint => (1n << BigInt(value.length * 8)) - 1n
function bytesOfNumber(value: bigint, size: number): string {
  return size === 0 ? '' : value.toString(16).padStart(size * 2, '0')
}

describe('integers', () => {
  test('quotient and remainder round towards zero, division and modulo down', () => {
    fc.assert(
      fc.property(bigIntegers, bigIntegers, (a, b) => {
        if (b === 0n) return failing('divideInteger', int(a), int(b))
        const [q, r] = [
          run('quotientInteger', int(a), int(b)),
          run('remainderInteger', int(a), int(b)),
        ] as bigint[]
        const [d, m] = [run('divideInteger', int(a), int(b)), run('modInteger', int(a), int(b))] as bigint[]
        expect(q! * b + r!).toBe(a)
        expect(d! * b + m!).toBe(a)
        expect(m === 0n || m! < 0n === b < 0n).toBe(true)
        expect(r === 0n || r! < 0n === a < 0n).toBe(true)
        expect(d! - q!).toBe(m === r ? 0n : -1n)
      }),
    )
  })

  test('expModInteger equals repeated multiplication, and inverts for negative exponents', () => {
    fc.assert(
      fc.property(
        bigIntegers,
        fc.integer({ min: 0, max: 50 }),
        fc.bigInt({ min: 2n, max: 2n ** 90n }),
        (base, exponent, modulus) => {
          let expected = 1n
          for (let i = 0; i < exponent; i++) expected = (((expected * base) % modulus) + modulus) % modulus
          const power = run('expModInteger', int(base), int(BigInt(exponent)), int(modulus))
          expect(power).toBe(expected)
        },
      ),
    )
    expect(run('expModInteger', int(3n), int(-1n), int(7n))).toBe(5n)
    failing('expModInteger', int(2n), int(-1n), int(4n))
    failing('expModInteger', int(2n), int(1n), int(0n))
    expect(run('expModInteger', int(0n), int(-3n), int(1n))).toBe(0n)
    failing('expModInteger', int(2n ** 8191n), int(1n), int(5n))
  })

  test('are limited in size since ledger version 11', () => {
    const most = 2n ** 262_143n - 1n
    expect(run('addInteger', int(most), int(0n))).toBe(most)
    failing('addInteger', int(most), int(1n))
    expect(run('subtractInteger', int(-most), int(1n))).toBe(-most - 1n)
    failing('subtractInteger', int(-most), int(2n))
  })
})

describe('byte strings', () => {
  test('convert to integers and back, in both byte orders', () => {
    fc.assert(
      fc.property(bytesOf, fc.boolean(), (value, bigEndian) => {
        const number = run('byteStringToInteger', boolConstant(bigEndian), bytes(value)) as bigint
        expect(number).toBe(numberOf(bigEndian ? value : Uint8Array.from(value).reverse()))
        const width = int(BigInt(value.length))
        expect(run('integerToByteString', boolConstant(bigEndian), width, int(number))).toEqual(value)
      }),
    )
    failing('integerToByteString', boolConstant(true), int(1n), int(256n))
    failing('integerToByteString', boolConstant(true), int(8193n), int(0n))
    failing('integerToByteString', boolConstant(true), int(0n), int(-1n))
  })

  test('are sliced like arrays', () => {
    const place = fc.integer({ min: -50, max: 50 })
    fc.assert(
      fc.property(bytesOf, place, place, (value, start, count) => {
        const from = Math.max(0, start)
        const expected = value.slice(from, from + Math.max(0, count))
        expect(run('sliceByteString', int(BigInt(start)), int(BigInt(count)), bytes(value))).toEqual(expected)
      }),
    )
    failing('sliceByteString', int(2n ** 63n), int(1n), bytes(new Uint8Array(3)))
    failing('indexByteString', bytes(new Uint8Array(3)), int(3n))
    failing('indexByteString', bytes(new Uint8Array(3)), int(-1n))
  })
})

describe('bits', () => {
  test('are shifted and rotated like those of one large number', () => {
    fc.assert(
      fc.property(bytesOf, fc.integer({ min: -400, max: 400 }), (value, by) => {
        const places = BigInt(by)
        const number = numberOf(value)
        const shifted = (by >= 0 ? number << places : number >> -places) & ones(value)
        expect(toHex(run('shiftByteString', bytes(value), int(places)) as Uint8Array)).toBe(
          bytesOfNumber(shifted, value.length),
        )
        const size = BigInt(value.length * 8)
        if (size === 0n) return
        const turn = ((places % size) + size) % size
        const rotated = ((number << turn) | (number >> (size - turn))) & ones(value)
        expect(toHex(run('rotateByteString', bytes(value), int(places)) as Uint8Array)).toBe(
          bytesOfNumber(rotated, value.length),
        )
      }),
    )
  })

  test('are read, written, counted and found like those of one large number', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 20 }),
        fc.nat(),
        fc.boolean(),
        (value, at, set) => {
          const place = BigInt(at % (value.length * 8))
          const number = numberOf(value)
          expect(run('readBit', bytes(value), int(place))).toBe(((number >> place) & 1n) === 1n)
          const places = new Constant(integerListType, listOf([place]))
          const written = set ? number | (1n << place) : number & ~(1n << place)
          expect(toHex(run('writeBits', bytes(value), places, boolConstant(set)) as Uint8Array)).toBe(
            bytesOfNumber(written, value.length),
          )
          const binary = number.toString(2)
          expect(run('countSetBits', bytes(value))).toBe(BigInt(binary.replaceAll('0', '').length))
          const lowest = number === 0n ? -1 : binary.length - 1 - binary.lastIndexOf('1')
          expect(run('findFirstSetBit', bytes(value))).toBe(BigInt(lowest))
          expect(numberOf(run('complementByteString', bytes(value)) as Uint8Array)).toBe(number ^ ones(value))
        },
      ),
    )
    failing('readBit', bytes(new Uint8Array(1)), int(8n))
    failing('replicateByte', int(8193n), int(0n))
    failing('shiftByteString', bytes(new Uint8Array(1)), int(2n ** 63n))
    failing('writeBits', bytes(new Uint8Array(4097)), new Constant(integerListType, null), boolConstant(true))
  })

  test('of two byte strings are combined from the left, truncated or padded', () => {
    fc.assert(
      fc.property(bytesOf, bytesOf, (a, b) => {
        const size = Math.min(a.length, b.length)
        const [x, y] = [numberOf(a.subarray(0, size)), numberOf(b.subarray(0, size))]
        for (const [name, expected] of [
          ['andByteString', x & y],
          ['orByteString', x | y],
          ['xorByteString', x ^ y],
        ] as const) {
          const short = run(name, boolConstant(false), bytes(a), bytes(b)) as Uint8Array
          const long = run(name, boolConstant(true), bytes(a), bytes(b)) as Uint8Array
          expect(toHex(short)).toBe(bytesOfNumber(expected, size))
          expect(toHex(long)).toBe(toHex(short) + toHex((a.length > b.length ? a : b).subarray(size)))
        }
      }),
    )
  })
})

describe('values', () => {
  const key = fc.uint8Array({ maxLength: 3 }).map(toHex)
  const quantities = fc.dictionary(key, fc.bigInt({ min: 1n, max: 2n ** 100n }), { minKeys: 1, maxKeys: 4 })
  const coins = fc.dictionary(key, quantities, { maxKeys: 4 }).map((policies): Coins => {
    const sorted = <Item>(entries: [string, Item][]) => new Map(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
    return sorted(Object.entries(policies).map(([policy, names]) => [policy, sorted(Object.entries(names))]))
  })
  const value = (content: Coins) => new Constant(valueType, content)

  test('convert to data and back, are added and subtracted, and contain each other', () => {
    fc.assert(
      fc.property(coins, coins, (a, b) => {
        const data = builtins[builtinNames.indexOf('valueData')]!.run([value(a)], semantics)
        expect(run('unValueData', data)).toEqual(a)
        const sum = run('unionValue', value(a), value(b)) as Coins
        expect([...sum.keys()]).toEqual([...sum.keys()].sort())
        expect(run('valueContains', value(sum), value(b))).toBe(true)
        const negated = run('scaleValue', int(-1n), value(b)) as Coins
        expect(run('unionValue', value(sum), value(negated))).toEqual(a)
      }),
    )
  })

  test('other constants are refused', () => {
    failing('valueContains', new Constant(boolType, true), value(new Map()))
  })
})

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
