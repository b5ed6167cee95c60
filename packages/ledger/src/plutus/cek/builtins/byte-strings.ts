import { bigintOf, compareBytes, concatBytes, equalBytes, fromHex } from '@ratatosk/cbor'
import { fail } from '../failures.js'
import { boolConstant, bytesConstant, integerConstant } from '../values/constant.js'
import type { Value } from '../values/value.js'
import {
  type BuiltinFunction,
  boolAt,
  builtin,
  byteAt,
  bytesAt,
  intAt,
  integerAt,
  type Semantics,
} from './builtin.js'

const maxByteStringSize = 65_536
/** Maximum size of the results of `integerToByteString` and `replicateByte`. */
export const maxMadeSize = 8192

function comparison(compare: (a: Uint8Array, b: Uint8Array) => boolean): BuiltinFunction {
  return builtin(0, 2, (args) => boolConstant(compare(bytesAt(args, 0), bytesAt(args, 1))))
}

function made(value: Uint8Array, { bounded }: Semantics): Value {
  if (bounded && value.length > maxByteStringSize) fail('A byte string is too long')
  return bytesConstant(value)
}

function firstByte(value: bigint): number {
  return Number(value & 255n)
}

/** Up to `count` bytes from `start`, truncated at both ends of the byte string. */
function slice(bytes: Uint8Array, start: number, count: number): Uint8Array {
  const from = Math.min(Math.max(start, 0), bytes.length)
  return bytes.subarray(from, Math.min(bytes.length, from + Math.max(count, 0)))
}

function integerToBytes(bigEndian: boolean, width: bigint, value: bigint): Uint8Array {
  if (width < 0n || width > maxMadeSize) fail('integerToByteString: the width is out of bounds')
  if (value < 0n) fail('integerToByteString: the integer is negative')
  const digits = value === 0n ? '' : value.toString(16)
  const size = Math.ceil(digits.length / 2)
  if (size > maxMadeSize) fail('integerToByteString: the integer is too large')
  if (width > 0n && size > Number(width)) fail('integerToByteString: the integer does not fit')
  const bytes = new Uint8Array(width > 0n ? Number(width) : size)
  bytes.set(fromHex(digits.padStart(size * 2, '0')), bytes.length - size)
  return bigEndian ? bytes : bytes.reverse()
}

export const byteStrings = {
  appendByteString: builtin(0, 2, (args, semantics) =>
    made(concatBytes(bytesAt(args, 0), bytesAt(args, 1)), semantics),
  ),
  consByteString: builtin(0, 2, (args, semantics) => {
    const byte = semantics.bytesAreChecked ? byteAt(args, 0) : firstByte(integerAt(args, 0))
    return made(concatBytes(Uint8Array.of(byte), bytesAt(args, 1)), semantics)
  }),
  sliceByteString: builtin(0, 3, (args) =>
    bytesConstant(slice(bytesAt(args, 2), intAt(args, 0), intAt(args, 1))),
  ),
  lengthOfByteString: builtin(0, 1, (args) => integerConstant(BigInt(bytesAt(args, 0).length))),
  indexByteString: builtin(0, 2, (args) => {
    const byte = bytesAt(args, 0)[intAt(args, 1)]
    return byte === undefined ? fail('indexByteString: out of bounds') : integerConstant(BigInt(byte))
  }),
  equalsByteString: comparison(equalBytes),
  lessThanByteString: comparison((a, b) => compareBytes(a, b) < 0),
  lessThanEqualsByteString: comparison((a, b) => compareBytes(a, b) <= 0),
  integerToByteString: builtin(0, 3, (args) =>
    bytesConstant(integerToBytes(boolAt(args, 0), integerAt(args, 1), integerAt(args, 2))),
  ),
  byteStringToInteger: builtin(0, 2, (args) => {
    const bytes = bytesAt(args, 1)
    return integerConstant(bigintOf(boolAt(args, 0) ? bytes : Uint8Array.from(bytes).reverse()))
  }),
}
