import { bls12_381 } from '@noble/curves/bls12-381.js'
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bigintOf, concatBytes, equalBytes } from '@ratatosk/cbor'
import { blake2b224, blake2b256, ripemd160, sha3_256, sha256, verifySignature } from '#crypto'
import { fail } from '../failures.js'
import {
  boolConstant,
  bytesConstant,
  Constant,
  type G1,
  type G2,
  type MillerLoopResult,
} from '../values/constant.js'
import {
  type ConstantType,
  g1ListType,
  g1Type,
  g2ListType,
  g2Type,
  integerListType,
  millerLoopResultType,
} from '../values/constant-type.js'
import type { LinkedList } from '../values/list.js'
import type { Value } from '../values/value.js'
import { type BuiltinFunction, builtin, bytesAt, contentOf, integerAt } from './builtin.js'

const { G1: g1, G2: g2, fields, pairing } = bls12_381
const order = fields.Fr.ORDER
const maxTagSize = 255
const boundOfScalars = 2n ** 4095n

/** The operations on the points of a group. The builtins of both groups are built from them. */
interface Point<P> {
  add(other: P): P
  negate(): P
  equals(other: P): boolean
  multiplyUnsafe(scalar: bigint): P
  isTorsionFree(): boolean
}

interface Group<P> {
  readonly type: ConstantType
  readonly listType: ConstantType
  readonly zero: P
  readonly compressedSize: number
  fromBytes(bytes: Uint8Array): P
  /** The field elements of both coordinates, most significant first. */
  coordinates(point: P): { readonly x: readonly bigint[]; readonly y: readonly bigint[] }
  /** Maps the field elements of one coordinate to a point of the subgroup. */
  map(elements: bigint[]): P
  readonly elementsOfCoordinate: number
}

type GroupFunctions = Record<
  'add' | 'neg' | 'scalarMul' | 'equal' | 'compress' | 'uncompress' | 'hashToGroup' | 'multiScalarMul',
  BuiltinFunction
>

function functionsOf<P extends Point<P> & (G1 | G2)>(group: Group<P>): GroupFunctions {
  const at = (args: Parameters<BuiltinFunction['run']>[0], place: number): P =>
    contentOf(args, place, group.type) as P
  const made = (point: P): Constant => new Constant(group.type, point)
  return {
    add: builtin(0, 2, (args) => made(at(args, 0).add(at(args, 1)))),
    neg: builtin(0, 1, (args) => made(at(args, 0).negate())),
    scalarMul: builtin(0, 2, (args) => made(times(at(args, 1), integerAt(args, 0)))),
    equal: builtin(0, 2, (args) => boolConstant(at(args, 0).equals(at(args, 1)))),
    compress: builtin(0, 1, (args) => bytesConstant(compress(group, at(args, 0)))),
    uncompress: builtin(0, 1, (args) => made(uncompress(group, bytesAt(args, 0)))),
    hashToGroup: builtin(0, 2, (args) => made(hashToGroup(group, bytesAt(args, 0), bytesAt(args, 1)))),
    multiScalarMul: builtin(0, 2, (args) => {
      const scalars = contentOf(args, 0, integerListType) as LinkedList<bigint>
      const points = contentOf(args, 1, group.listType) as LinkedList<P>
      for (let cell = scalars; cell !== null; cell = cell.tail) {
        if (cell.head >= boundOfScalars || cell.head < -boundOfScalars) fail('A scalar has too many bits')
      }
      let sum = group.zero
      for (let s = scalars, p = points; s !== null && p !== null; s = s.tail, p = p.tail) {
        sum = sum.add(times(p.head, s.head))
      }
      return made(sum)
    }),
  }
}

function times<P extends Point<P>>(point: P, scalar: bigint): P {
  return point.multiplyUnsafe(((scalar % order) + order) % order)
}

/** The encoding of zero, which Noble does not encode: flags for compressed and infinity. */
function encodedZero({ compressedSize }: Group<unknown>): Uint8Array {
  const bytes = new Uint8Array(compressedSize)
  bytes[0] = 0xc0
  return bytes
}

/**
 * Compresses a point without Noble, whose encoder checks the subgroup first and takes forty times as long.
 * The first bits state that the point is compressed, and whether its y is the greater of the two.
 */
function compress<P extends Point<P>>(group: Group<P>, point: P): Uint8Array {
  if (point.equals(group.zero)) return encodedZero(group)
  const { x, y } = group.coordinates(point)
  const bytes = new Uint8Array(group.compressedSize)
  x.forEach((element, i) => {
    bytes.set(fields.Fp.toBytes(element), i * fields.Fp.BYTES)
  })
  const deciding = y.find((element) => element !== 0n) ?? 0n
  bytes[0] = (bytes[0] as number) | (deciding > fields.Fp.ORDER / 2n ? 0xa0 : 0x80)
  return bytes
}

/** Accepts only compressed points of the subgroup in their canonical encoding. */
function uncompress<P extends Point<P>>(group: Group<P>, bytes: Uint8Array): P {
  if (equalBytes(bytes, encodedZero(group))) return group.zero
  let point: P | undefined
  if (bytes.length === group.compressedSize && ((bytes[0] as number) & 0x80) !== 0) {
    try {
      point = group.fromBytes(bytes)
    } catch {
      point = undefined
    }
  }
  if (point === undefined || !point.isTorsionFree()) return fail('Not a compressed point of the group')
  return point
}

/** `hash_to_curve` of RFC 9380: maps two field elements to the curve and adds the points. */
function hashToGroup<P extends Point<P>>(group: Group<P>, message: Uint8Array, tag: Uint8Array): P {
  if (tag.length > maxTagSize) fail('The domain separation tag is too long')
  const size = 64
  const count = group.elementsOfCoordinate
  const uniform = expandMessage(message, tag, 2 * count * size)
  const elements = Array.from({ length: 2 * count }, (_, i) =>
    fields.Fp.create(bigintOf(uniform.subarray(i * size, (i + 1) * size))),
  )
  return group.map(elements.slice(0, count)).add(group.map(elements.slice(count)))
}

/** `expand_message_xmd` with SHA-256. Plutus accepts an empty tag; Noble does not. */
function expandMessage(message: Uint8Array, tag: Uint8Array, length: number): Uint8Array {
  const suffix = concatBytes(tag, Uint8Array.of(tag.length))
  const sizes = Uint8Array.of(length >> 8, length & 255, 0)
  const first = sha256(concatBytes(new Uint8Array(64), message, sizes, suffix))
  const blocks: Uint8Array[] = []
  let last: Uint8Array = new Uint8Array(32)
  for (let i = 1; i <= Math.ceil(length / 32); i++) {
    const mixed = first.map((byte, at) => byte ^ (last[at] as number))
    last = sha256(concatBytes(i === 1 ? first : mixed, Uint8Array.of(i), suffix))
    blocks.push(last)
  }
  return concatBytes(...blocks).subarray(0, length)
}

// Contrary to its type, Noble's function for G1 takes its single element directly.
const mapToG1 = g1.mapToCurve as (element: bigint | bigint[]) => ReturnType<typeof g1.mapToCurve>

const ofG1 = functionsOf<G1>({
  type: g1Type,
  listType: g1ListType,
  zero: g1.Point.ZERO,
  compressedSize: 48,
  fromBytes: (bytes) => g1.Point.fromBytes(bytes),
  coordinates: (point) => {
    const { x, y } = point.toAffine()
    return { x: [x], y: [y] }
  },
  map: ([element = 0n]) => {
    const { x, y } = mapToG1(element)
    return g1.Point.fromAffine({ x, y })
  },
  elementsOfCoordinate: 1,
})

const ofG2 = functionsOf<G2>({
  type: g2Type,
  listType: g2ListType,
  zero: g2.Point.ZERO,
  compressedSize: 96,
  fromBytes: (bytes) => g2.Point.fromBytes(bytes),
  coordinates: (point) => {
    const { x, y } = point.toAffine()
    return { x: [x.c1, x.c0], y: [y.c1, y.c0] }
  },
  map: (elements) => {
    const { x, y } = g2.mapToCurve(elements)
    return g2.Point.fromAffine({ x, y })
  },
  elementsOfCoordinate: 2,
})

export const curves = {
  bls12_381_G1_add: ofG1.add,
  bls12_381_G1_neg: ofG1.neg,
  bls12_381_G1_scalarMul: ofG1.scalarMul,
  bls12_381_G1_equal: ofG1.equal,
  bls12_381_G1_compress: ofG1.compress,
  bls12_381_G1_uncompress: ofG1.uncompress,
  bls12_381_G1_hashToGroup: ofG1.hashToGroup,
  bls12_381_G1_multiScalarMul: ofG1.multiScalarMul,
  bls12_381_G2_add: ofG2.add,
  bls12_381_G2_neg: ofG2.neg,
  bls12_381_G2_scalarMul: ofG2.scalarMul,
  bls12_381_G2_equal: ofG2.equal,
  bls12_381_G2_compress: ofG2.compress,
  bls12_381_G2_uncompress: ofG2.uncompress,
  bls12_381_G2_hashToGroup: ofG2.hashToGroup,
  bls12_381_G2_multiScalarMul: ofG2.multiScalarMul,
  bls12_381_millerLoop: builtin(0, 2, (args) => {
    const p = contentOf(args, 0, g1Type) as G1
    const q = contentOf(args, 1, g2Type) as G2
    const atInfinity = p.equals(g1.Point.ZERO) || q.equals(g2.Point.ZERO)
    return new Constant(millerLoopResultType, atInfinity ? fields.Fp12.ONE : pairing(p, q, false))
  }),
  bls12_381_mulMlResult: builtin(0, 2, (args) => {
    const [a, b] = [millerLoopResultAt(args, 0), millerLoopResultAt(args, 1)]
    return new Constant(millerLoopResultType, fields.Fp12.mul(a, b))
  }),
  bls12_381_finalVerify: builtin(0, 2, (args) => {
    const { Fp12 } = fields
    const quotient = Fp12.mul(millerLoopResultAt(args, 0), Fp12.inv(millerLoopResultAt(args, 1)))
    return boolConstant(Fp12.eql(Fp12.finalExponentiate(quotient), Fp12.ONE))
  }),
}

function millerLoopResultAt(args: Parameters<BuiltinFunction['run']>[0], at: number): MillerLoopResult {
  return contentOf(args, at, millerLoopResultType) as MillerLoopResult
}

function hash(compute: (message: Uint8Array) => Uint8Array): BuiltinFunction {
  return builtin(0, 1, (args) => bytesConstant(compute(bytesAt(args, 0))))
}

export const hashes = {
  sha2_256: hash(sha256),
  sha3_256: hash(sha3_256),
  blake2b_256: hash(blake2b256),
  blake2b_224: hash(blake2b224),
  // Neither OpenSSL nor libsodium has Keccak, which pads differently from SHA-3.
  keccak_256: hash((message) => keccak_256(message)),
  ripemd_160: hash(ripemd160),
}

function sized(args: readonly Value[], at: number, size: number, what: string): Uint8Array {
  const bytes = bytesAt(args, at)
  return bytes.length === size ? bytes : fail(`A ${what} has ${bytes.length} bytes instead of ${size}`)
}

/** Verifies like libsecp256k1: an invalid encoding fails the script; a high S yields false. */
function verifyEcdsa(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const order = secp256k1.Point.Fn.ORDER
  const r = bigintOf(signature.subarray(0, 32))
  const s = bigintOf(signature.subarray(32))
  if (r >= order || s >= order) fail('The signature is not valid')
  try {
    secp256k1.Point.fromBytes(key)
  } catch {
    fail('The verification key is not valid')
  }
  if (r === 0n || s === 0n || s > order / 2n) return false
  return secp256k1.verify(signature, message, key, { prehash: false, lowS: true })
}

/** A key that is not a point fails the script. Every signature has a valid encoding. */
function verifySchnorr(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    schnorr.utils.lift_x(bigintOf(key))
  } catch {
    fail('The verification key is not valid')
  }
  return schnorr.verify(signature, message, key)
}

export const signatures = {
  verifyEd25519Signature: builtin(0, 3, (args) => {
    const key = sized(args, 0, 32, 'verification key')
    const signature = sized(args, 2, 64, 'signature')
    return boolConstant(verifySignature(signature, bytesAt(args, 1), key))
  }),
  verifyEcdsaSecp256k1Signature: builtin(0, 3, (args) => {
    const key = sized(args, 0, 33, 'verification key')
    const message = sized(args, 1, 32, 'message hash')
    return boolConstant(verifyEcdsa(key, message, sized(args, 2, 64, 'signature')))
  }),
  verifySchnorrSecp256k1Signature: builtin(0, 3, (args) => {
    const key = sized(args, 0, 32, 'verification key')
    const signature = sized(args, 2, 64, 'signature')
    return boolConstant(verifySchnorr(key, bytesAt(args, 1), signature))
  }),
}
