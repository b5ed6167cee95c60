import { fail } from '../failures.js'
import { type ConstantType, sameType, TypeTag } from '../values/constant-type.js'
import type { Data, Pair } from '../values/data.js'
import type { List } from '../values/list.js'
import { type Coins, type Constant, type Content, type Value, ValueKind } from '../values/value.js'

/** What of a language and a protocol version the functions themselves depend on. */
export interface Semantics {
  /** Whether `consByteString` takes bytes only; otherwise it takes the lowest byte of any integer. */
  readonly bytesAreChecked: boolean
  /** Whether the bounds that came with protocol version 11 hold. */
  readonly bounded: boolean
  trace(line: string): void
}

export interface BuiltinFunction {
  /** How often it must be forced before it takes arguments. */
  readonly forces: number
  readonly arity: number
  run(args: readonly Value[], semantics: Semantics): Value
}

type Run = BuiltinFunction['run']

export function builtin(forces: number, arity: number, run: Run): BuiltinFunction {
  return { forces, arity, run }
}

const maxInt64 = 2n ** 63n - 1n

/** An argument that is a constant. */
export function constantAt(args: readonly Value[], at: number): Constant {
  const value = args[at]
  if (value === undefined || value.kind !== ValueKind.constant) return fail('A builtin was given no constant')
  return value
}

function contentAt(args: readonly Value[], at: number, tag: number): Content {
  const { type, content } = constantAt(args, at)
  if (type.tag !== tag) fail('A builtin was given a value of a wrong type')
  return content
}

export function integerAt(args: readonly Value[], at: number): bigint {
  return contentAt(args, at, TypeTag.integer) as bigint
}

/** An integer where the function takes one of 64 bits, signed. It may be inexact beyond 2^53, where nothing is as large. */
export function intAt(args: readonly Value[], at: number): number {
  const value = integerAt(args, at)
  if (value > maxInt64 || value < -maxInt64 - 1n) fail('An integer is not within 64 bits')
  return Number(value)
}

/** An integer from 0 to 255. */
export function byteAt(args: readonly Value[], at: number): number {
  const value = integerAt(args, at)
  if (value < 0n || value > 255n) fail('An integer is no byte')
  return Number(value)
}

export function bytesAt(args: readonly Value[], at: number): Uint8Array {
  return contentAt(args, at, TypeTag.byteString) as Uint8Array
}

export function textAt(args: readonly Value[], at: number): string {
  return contentAt(args, at, TypeTag.string) as string
}

export function boolAt(args: readonly Value[], at: number): boolean {
  return contentAt(args, at, TypeTag.bool) as boolean
}

export function unitAt(args: readonly Value[], at: number): void {
  contentAt(args, at, TypeTag.unit)
}

export function dataAt(args: readonly Value[], at: number): Data {
  return contentAt(args, at, TypeTag.data) as Data
}

export function coinsAt(args: readonly Value[], at: number): Coins {
  return contentAt(args, at, TypeTag.value) as Coins
}

export function pairAt(args: readonly Value[], at: number): Pair<Content, Content> {
  return contentAt(args, at, TypeTag.pair) as Pair<Content, Content>
}

export function listAt(args: readonly Value[], at: number): List<Content> {
  return contentAt(args, at, TypeTag.list) as List<Content>
}

/** Content of exactly one type, also where nothing is in it. */
export function contentOf(args: readonly Value[], at: number, type: ConstantType): Content {
  const constant = constantAt(args, at)
  if (!sameType(constant.type, type)) fail('A builtin was given a value of a wrong type')
  return constant.content
}

/** An argument that is handed on as it is. */
export function anyAt(args: readonly Value[], at: number): Value {
  return args[at] ?? fail('A builtin lacks an argument')
}
