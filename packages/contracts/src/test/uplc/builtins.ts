import { compareBytes, concatBytes, equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b224, blake2b256, verifySignature } from '@ratatosk/ledger'
import {
  BytesData,
  Cell,
  ConstrData,
  type Data,
  fail,
  type Int,
  IntData,
  intOf,
  isEqual,
  type List,
  ListData,
  MapData,
  Pair,
  serialise,
  unit,
} from './values.js'

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
