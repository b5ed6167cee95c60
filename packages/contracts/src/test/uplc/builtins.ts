import { compareBytes, concatBytes, equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b224, blake2b256, verifySignature } from '@ratatosk/ledger'
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
type Int = number | bigint

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
function serialise(data: Data): Uint8Array {
  const bytes = serialised.get(data) ?? encodeAnyData(dataValueOf(data))
  serialised.set(data, bytes)
  return bytes
}

/** Of data, and pairs of data. */
function isEqual(a: unknown, b: unknown): boolean {
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

/*
 * The builtin functions of Plutus V3 that the policies of fraud proofs use. A script may read anything in a
 * redeemer, so each checks the kinds of its arguments.
 */

const int = (value: unknown): Int => (typeof value === 'number' || typeof value === 'bigint' ? value : fail())
const bytes = (value: unknown): Uint8Array => (value instanceof Uint8Array ? value : fail())
const list = (value: unknown): List<unknown> => (value === null || value instanceof Cell ? value : fail())
const cell = (value: unknown): Cell<unknown> => (value instanceof Cell ? value : fail())
const pair = (value: unknown): Pair => (value instanceof Pair ? value : fail())
export const bool = (value: unknown): boolean => (typeof value === 'boolean' ? value : fail())

const dataKinds = [ConstrData, BytesData, IntData, ListData, MapData] as const
const data = (value: unknown): Data =>
  dataKinds.some((kind) => value instanceof kind) ? (value as Data) : fail()

/** Of numbers, where the result is exact; otherwise of bigints. */
const arithmetic =
  (small: (a: number, b: number) => number, large: (a: bigint, b: bigint) => bigint) =>
  (a: unknown, b: unknown): Int => {
    if (typeof a === 'number' && typeof b === 'number') {
      const result = small(a, b)
      if (Number.isSafeInteger(result)) return result
    }
    return intOf(large(BigInt(int(a)), BigInt(int(b))))
  }

const never = () => Number.NaN

/** Rounds towards minus infinity. */
function quotient(a: bigint, b: bigint): bigint {
  if (b === 0n) return fail()
  return a / b - (a % b !== 0n && a < 0n !== b < 0n ? 1n : 0n)
}

const maxInWord = 2n ** 63n - 1n

/** An integer that a machine word holds. Over 2^53 it is more than any length. */
function word(value: unknown): number {
  const number = int(value)
  if (typeof number === 'bigint' && (number > maxInWord || number < -maxInWord - 1n)) return fail()
  return Number(number)
}

function sized(value: unknown, length: number): Uint8Array {
  const checked = bytes(value)
  return checked.length === length ? checked : fail()
}

function requireBigEndian(flag: unknown): void {
  if (!bool(flag)) throw new RangeError('Little-endian integers are not read here')
}

const longest = 8192

export const traces: { last: string | undefined } = { last: undefined }

export const builtins = {
  addInteger: arithmetic(
    (a, b) => a + b,
    (a, b) => a + b,
  ),
  subtractInteger: arithmetic(
    (a, b) => a - b,
    (a, b) => a - b,
  ),
  multiplyInteger: arithmetic(
    (a, b) => a * b,
    (a, b) => a * b,
  ),
  divideInteger: arithmetic(never, quotient),
  modInteger: arithmetic(
    (a, b) => (b === 0 ? Number.NaN : ((a % b) + b) % b),
    (a, b) => a - b * quotient(a, b),
  ),
  equalsInteger: (a: unknown, b: unknown) => int(a) === int(b),
  lessThanInteger: (a: unknown, b: unknown) => int(a) < int(b),
  lessThanEqualsInteger: (a: unknown, b: unknown) => int(a) <= int(b),

  appendByteString: (a: unknown, b: unknown) => concatBytes(bytes(a), bytes(b)),
  consByteString(byte: unknown, rest: unknown) {
    const first = int(byte)
    return first >= 0 && first <= 255 ? concatBytes(Uint8Array.of(Number(first)), bytes(rest)) : fail()
  },
  sliceByteString(start: unknown, length: unknown, value: unknown) {
    const [whole, first, size] = [bytes(value), word(start), word(length)]
    const from = Math.min(Math.max(first, 0), whole.length)
    return whole.subarray(from, Math.min(whole.length, from + Math.max(size, 0)))
  },
  lengthOfByteString: (value: unknown) => bytes(value).length,
  indexByteString: (value: unknown, index: unknown) => bytes(value)[word(index)] ?? fail(),
  equalsByteString: (a: unknown, b: unknown) => equalBytes(bytes(a), bytes(b)),
  lessThanByteString: (a: unknown, b: unknown) => compareBytes(bytes(a), bytes(b)) < 0,
  integerToByteString(isBigEndian: unknown, width: unknown, value: unknown) {
    requireBigEndian(isBigEndian)
    const [size, number] = [int(width), BigInt(int(value))]
    if (size < 0 || size > longest || number < 0n) return fail()
    const digits = number === 0n ? '' : number.toString(16)
    const least = Math.ceil(digits.length / 2)
    if (least > longest || (size > 0 && least > size)) return fail()
    return fromHex(digits.padStart(2 * (Number(size) || least), '0'))
  },
  byteStringToInteger(isBigEndian: unknown, value: unknown) {
    requireBigEndian(isBigEndian)
    const read = bytes(value)
    return read.length < 7
      ? read.reduce((sum, byte) => sum * 256 + byte, 0)
      : intOf(BigInt(`0x${toHex(read)}`))
  },

  blake2b_224: (value: unknown) => blake2b224(bytes(value)),
  blake2b_256: (value: unknown) => blake2b256(bytes(value)),
  verifyEd25519Signature(key: unknown, message: unknown, signature: unknown) {
    const publicKey = sized(key, 32)
    return verifySignature(sized(signature, 64), bytes(message), publicKey)
  },

  trace(message: unknown, value: unknown) {
    traces.last = typeof message === 'string' ? message : fail()
    return value
  },
  ifThenElse: (condition: unknown, yes: unknown, no: unknown) => (bool(condition) ? yes : no),
  fstPair: (value: unknown) => pair(value).first,
  sndPair: (value: unknown) => pair(value).second,
  mkCons: (head: unknown, tail: unknown) => new Cell(head, list(tail)),
  headList: (value: unknown) => cell(value).head,
  tailList: (value: unknown) => cell(value).tail,
  nullList: (value: unknown) => list(value) === null,

  constrData: (index: unknown, fields: unknown) => new ConstrData(int(index), list(fields) as List<Data>),
  mapData: (entries: unknown) => new MapData(list(entries) as List<Pair>),
  listData: (items: unknown) => new ListData(list(items) as List<Data>),
  iData: (value: unknown) => new IntData(int(value)),
  bData: (value: unknown) => new BytesData(bytes(value)),
  mkPairData: (first: unknown, second: unknown) => new Pair(data(first), data(second)),
  mkNilData: (value: unknown) => (value === unit ? null : fail()),
  mkNilPairData: (value: unknown) => (value === unit ? null : fail()),
  unConstrData: (value: unknown) =>
    value instanceof ConstrData ? new Pair(value.index, value.fields) : fail(),
  unMapData: (value: unknown) => (value instanceof MapData ? value.entries : fail()),
  chooseData(value: unknown, constr: unknown, map: unknown, list: unknown, int: unknown, bytes: unknown) {
    if (value instanceof ConstrData) return constr
    if (value instanceof MapData) return map
    if (value instanceof ListData) return list
    if (value instanceof IntData) return int
    return value instanceof BytesData ? bytes : fail()
  },
  unListData: (value: unknown) => (value instanceof ListData ? value.items : fail()),
  unIData: (value: unknown) => (value instanceof IntData ? value.value : fail()),
  unBData: (value: unknown) => (value instanceof BytesData ? value.value : fail()),
  equalsData: (a: unknown, b: unknown) => isEqual(data(a), data(b)),
  serialiseData: (value: unknown) => serialise(data(value)),
}

export type BuiltinName = keyof typeof builtins
