import { equalBytes } from '@ratatosk/cbor'
import { type DataValue, encodeAnyData, type LinkedList, type PlutusData } from '@ratatosk/ledger/plutus-data'

/*
 * Values of Untyped Plutus Core. Functions are functions of one argument, booleans and byte strings are those
 * of JavaScript.
 */

export class Failure extends Error {}

// One for all: the stack traces of refusals would take most of the time.
const failure = new Failure('The script failed')

export function fail(): never {
  throw failure
}

/** An integer: a number if that is exact, so that equal integers are identical. */
export type Int = number | bigint

export class Cell<T> {
  constructor(
    readonly head: T,
    readonly tail: List<T>,
  ) {}
}
export type List<T> = Cell<T> | null

export class Pair {
  constructor(
    readonly first: unknown,
    readonly second: unknown,
  ) {}
}

/** A term that is evaluated when it is forced. */
export class Delayed {
  constructor(readonly run: () => unknown) {}
}

/** The value of `constr`. */
export class Constructed {
  constructor(
    readonly tag: number,
    readonly fields: readonly unknown[],
  ) {}
}

export const unit: unique symbol = Symbol('unit')

export class IntData {
  constructor(readonly value: Int) {}
}
export class BytesData {
  constructor(readonly value: Uint8Array) {}
}
export class ListData {
  constructor(readonly items: List<Data>) {}
}
export class ConstrData {
  constructor(
    readonly index: Int,
    readonly fields: List<Data>,
  ) {}
}
export class MapData {
  constructor(readonly entries: List<Pair>) {}
}
export type Data = IntData | BytesData | ListData | ConstrData | MapData

export const listOf = <T>(items: readonly T[]): List<T> =>
  items.reduceRight<List<T>>((tail, head) => new Cell(head, tail), null)

const lowest = BigInt(Number.MIN_SAFE_INTEGER)
const highest = BigInt(Number.MAX_SAFE_INTEGER)
export const intOf = (value: bigint): Int => (value >= lowest && value <= highest ? Number(value) : value)

/** Data that many redeemers share is converted once. */
const converted = new WeakMap<object, Data>()

export function dataOf(data: PlutusData): Data {
  if (typeof data === 'bigint') return new IntData(intOf(data))
  const known = converted.get(data)
  if (known !== undefined) return known
  const value = convert(data)
  converted.set(data, value)
  return value
}

function convert(data: Exclude<PlutusData, bigint>): Data {
  if (data instanceof Uint8Array) return new BytesData(data)
  if ('fields' in data) return new ConstrData(data.index, listOf(data.fields.map(dataOf)))
  return new ListData(listOf(data.map(dataOf)))
}

function dataValueOf(data: Data): DataValue {
  if (data instanceof IntData) return { kind: 'integer', value: BigInt(data.value) }
  if (data instanceof BytesData) return { kind: 'bytes', value: data.value }
  if (data instanceof ListData) return { kind: 'list', items: linked(data.items, dataValueOf) }
  if (data instanceof ConstrData)
    return { kind: 'constructor', index: BigInt(data.index), fields: linked(data.fields, dataValueOf) }
  const pair = ({ first, second }: Pair) => ({
    first: dataValueOf(first as Data),
    second: dataValueOf(second as Data),
  })
  return { kind: 'map', entries: linked(data.entries, pair) }
}

function linked<One, Other>(list: List<One>, map: (one: One) => Other): LinkedList<Other> {
  if (list === null) return null
  const tail = linked(list.tail, map)
  return { head: map(list.head), tail, length: (tail?.length ?? 0) + 1 }
}

const serialised = new WeakMap<Data, Uint8Array>()

/** As `serialiseData` does. */
export function serialise(data: Data): Uint8Array {
  const bytes = serialised.get(data) ?? encodeAnyData(dataValueOf(data))
  serialised.set(data, bytes)
  return bytes
}

/** Of data, and pairs of data. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (a instanceof IntData) return b instanceof IntData && a.value === b.value
  if (a instanceof BytesData) return b instanceof BytesData && equalBytes(a.value, b.value)
  if (a instanceof Pair) return b instanceof Pair && isEqual(a.first, b.first) && isEqual(a.second, b.second)
  if (a instanceof ListData) return b instanceof ListData && areEqual(a.items, b.items)
  if (a instanceof MapData) return b instanceof MapData && areEqual(a.entries, b.entries)
  if (!(a instanceof ConstrData) || !(b instanceof ConstrData)) return false
  return a.index === b.index && areEqual(a.fields, b.fields)
}

function areEqual(a: List<unknown>, b: List<unknown>): boolean {
  let [left, right] = [a, b]
  while (left !== null && right !== null) {
    if (!isEqual(left.head, right.head)) return false
    left = left.tail
    right = right.tail
  }
  return left === right
}
