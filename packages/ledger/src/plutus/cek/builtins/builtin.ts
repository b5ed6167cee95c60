import { fail } from '../failures.js'
import { type Coins, type Constant, type Content, ValueKind } from '../values/constant.js'
import { type ConstantType, sameType, TypeTag } from '../values/constant-type.js'
import type { DataValue, Pair } from '../values/data.js'
import type { LinkedList } from '../values/list.js'
import type { Value } from '../values/value.js'

/** How the builtins depend on the language and the ledger version. */
export interface Semantics {
  /** Whether `consByteString` accepts only bytes; otherwise it uses the lowest byte of any integer. */
  readonly bytesAreChecked: boolean
  /** Whether the limits of ledger version 11 apply. */
  readonly bounded: boolean
  trace(line: string): void
}

export interface BuiltinFunction {
  /** How often the builtin must be forced before it accepts arguments. */
  readonly forces: number
  readonly arity: number
  run(args: readonly Value[], semantics: Semantics): Value
}

type Run = BuiltinFunction['run']

export function builtin(forces: number, arity: number, run: Run): BuiltinFunction {
  return { forces, arity, run }
}

const maxInt64 = 2n ** 63n - 1n

export function constantAt(args: readonly Value[], at: number): Constant {
  const value = args[at]
  if (value === undefined || value.kind !== ValueKind.constant)
    return fail('An argument of a builtin is not a constant')
  return value
}

function contentAt(args: readonly Value[], at: number, tag: number): Content {
  const { type, content } = constantAt(args, at)
  if (type.tag !== tag) fail('An argument of a builtin has the wrong type')
  return content
}

export function integerAt(args: readonly Value[], at: number): bigint {
  return contentAt(args, at, TypeTag.integer) as bigint
}

/** A signed 64-bit integer argument; inexact above 2^53, which exceeds every size. */
export function intAt(args: readonly Value[], at: number): number {
  const value = integerAt(args, at)
  if (value > maxInt64 || value < -maxInt64 - 1n) fail('An integer is not within 64 bits')
  return Number(value)
}

/** An integer from 0 to 255. */
export function byteAt(args: readonly Value[], at: number): number {
  const value = integerAt(args, at)
  if (value < 0n || value > 255n) fail('An integer is not a byte')
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

export function dataAt(args: readonly Value[], at: number): DataValue {
  return contentAt(args, at, TypeTag.data) as DataValue
}

export function coinsAt(args: readonly Value[], at: number): Coins {
  return contentAt(args, at, TypeTag.value) as Coins
}

export function pairAt(args: readonly Value[], at: number): Pair<Content, Content> {
  return contentAt(args, at, TypeTag.pair) as Pair<Content, Content>
}

export function listAt(args: readonly Value[], at: number): LinkedList<Content> {
  return contentAt(args, at, TypeTag.list) as LinkedList<Content>
}

/** The content of a constant of exactly this type, even if it is empty. */
export function contentOf(args: readonly Value[], at: number, type: ConstantType): Content {
  const constant = constantAt(args, at)
  if (!sameType(constant.type, type)) fail('An argument of a builtin has the wrong type')
  return constant.content
}

export function anyAt(args: readonly Value[], at: number): Value {
  return args[at] ?? fail('A builtin lacks an argument')
}
