import type { WeierstrassPoint } from '@noble/curves/abstract/weierstrass.js'
import type { bls12_381 } from '@noble/curves/bls12-381.js'
import type { Term } from '../program/term.js'
import {
  boolType,
  byteStringType,
  type ConstantType,
  dataType,
  integerType,
  unitType,
} from './constant-type.js'
import type { Data, Pair } from './data.js'
import type { Cell } from './list.js'

type Fields = typeof bls12_381.fields

/** Points as Noble has them; other points than those of the subgroup are never made. */
export type G1 = WeierstrassPoint<bigint>
export type G2 = WeierstrassPoint<ReturnType<Fields['Fp2']['create']>>
export type MillerLoopResult = ReturnType<Fields['Fp12']['create']>

/** Quantities by policy and name, both in hex and in order. Neither zero quantities nor empty inner maps. */
export type Coins = ReadonlyMap<string, ReadonlyMap<string, bigint>>

/** What a constant holds; its type says which of these it is. A unit is undefined. */
export type Content =
  | bigint
  | Uint8Array
  | string
  | undefined
  | boolean
  | Data
  | Contents
  | PairOfContents
  | readonly Content[]
  | G1
  | G2
  | MillerLoopResult
  | Coins

// A union may refer to itself only by interfaces.
interface ContentCell extends Cell<Content> {}
type Contents = ContentCell | null
interface PairOfContents extends Pair<Content, Content> {}

export const ValueKind = { constant: 0, lambda: 1, delayed: 2, constructed: 3, builtin: 4 } as const

export class Constant {
  readonly kind = ValueKind.constant
  constructor(
    readonly type: ConstantType,
    readonly content: Content,
  ) {}
}

/** The arguments of the functions around a term, the innermost first. */
export class Environment {
  constructor(
    readonly value: Value,
    readonly outer: Environment | null,
  ) {}
}

export class Lambda {
  readonly kind = ValueKind.lambda
  constructor(
    readonly body: Term,
    readonly environment: Environment | null,
  ) {}
}

export class Delayed {
  readonly kind = ValueKind.delayed
  constructor(
    readonly body: Term,
    readonly environment: Environment | null,
  ) {}
}

export class Constructed {
  readonly kind = ValueKind.constructed
  constructor(
    readonly tag: number,
    readonly fields: readonly Value[],
  ) {}
}

/** A builtin function that still waits for forces, and then for arguments. */
export class Builtin {
  readonly kind = ValueKind.builtin
  constructor(
    readonly index: number,
    readonly forces: number,
    readonly args: readonly Value[],
  ) {}
}

export type Value = Constant | Lambda | Delayed | Constructed | Builtin

export const unit = new Constant(unitType, undefined)
export const yes = new Constant(boolType, true)
export const no = new Constant(boolType, false)

export function integerConstant(value: bigint): Constant {
  return new Constant(integerType, value)
}

export function bytesConstant(value: Uint8Array): Constant {
  return new Constant(byteStringType, value)
}

export function boolConstant(value: boolean): Constant {
  return value ? yes : no
}

export function dataConstant(value: Data): Constant {
  return new Constant(dataType, value)
}
