import type { WeierstrassPoint } from '@noble/curves/abstract/weierstrass.js'
import type { bls12_381 } from '@noble/curves/bls12-381.js'
import { boolType, byteStringType, type ConstantType, dataType, integerType } from './constant-type.js'
import type { DataValue, Pair } from './data.js'
import type { Cell } from './list.js'

type Fields = typeof bls12_381.fields

/** Points as Noble represents them. All of them are in the subgroup. */
export type G1 = WeierstrassPoint<bigint>
export type G2 = WeierstrassPoint<ReturnType<Fields['Fp2']['create']>>
export type MillerLoopResult = ReturnType<Fields['Fp12']['create']>

/** Quantities by policy and name, both in hex and sorted. Without zero quantities and empty inner maps. */
export type Coins = ReadonlyMap<string, ReadonlyMap<string, bigint>>

/** The content of a constant, which depends on its type. Unit is undefined. */
export type Content =
  | bigint
  | Uint8Array
  | string
  | undefined
  | boolean
  | DataValue
  | Contents
  | PairOfContents
  | readonly Content[]
  | G1
  | G2
  | MillerLoopResult
  | Coins

// A type alias can refer to itself only through interfaces.
interface ContentCell extends Cell<Content> {}
type Contents = ContentCell | null
interface PairOfContents extends Pair<Content, Content> {}

/** The `kind` of each class of values, on which the machine switches. */
export const ValueKind = { constant: 0, lambda: 1, delayed: 2, constructed: 3, builtin: 4 } as const

export class Constant {
  readonly kind = ValueKind.constant
  constructor(
    readonly type: ConstantType,
    readonly content: Content,
  ) {}
}

const yes = new Constant(boolType, true)
const no = new Constant(boolType, false)

export function integerConstant(value: bigint): Constant {
  return new Constant(integerType, value)
}

export function bytesConstant(value: Uint8Array): Constant {
  return new Constant(byteStringType, value)
}

export function boolConstant(value: boolean): Constant {
  return value ? yes : no
}

export function dataConstant(value: DataValue): Constant {
  return new Constant(dataType, value)
}
