import { bigintOf, compareBytes, concatBytes, equalBytes, fromHex } from '@ratatosk/cbor'
import { fail } from '../failures.js'
import { boolConstant, bytesConstant, integerConstant } from '../values/constant.js'
import { integerListType } from '../values/constant-type.js'
import { itemsOf, type LinkedList } from '../values/list.js'
import type { Value } from '../values/value.js'
import {
  type BuiltinFunction,
  boolAt,
  builtin,
  byteAt,
  bytesAt,
  contentOf,
  intAt,
  integerAt,
  type Semantics,
} from './builtin.js'

const maxByteStringSize = 65_536
/** Maximum size of the results of `integerToByteString` and `replicateByte`. */
const maxMadeSize = 8192

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

/** Maximum size of the byte string of `writeBits` since ledger version 11. */
const maxWrittenSize = 4096

/** Bit 0 is the least significant bit of the last byte (CIP-122, CIP-123). */
function place(bytes: Uint8Array, bit: number): { readonly byte: number; readonly mask: number } {
  if (bit < 0 || bit >= bytes.length * 8) fail('A bit is out of bounds')
  return { byte: bytes.length - 1 - Math.floor(bit / 8), mask: 1 << (bit % 8) }
}

/** Combines two byte strings, aligned at their start. The rest of the longer one is kept or truncated. */
function combination(combine: (a: number, b: number) => number): BuiltinFunction {
  return builtin(0, 3, (args) => {
    const [a, b] = [bytesAt(args, 1), bytesAt(args, 2)]
    const [longer, shorter] = a.length >= b.length ? [a, b] : [b, a]
    const result = Uint8Array.from(boolAt(args, 0) ? longer : longer.subarray(0, shorter.length))
    for (let i = 0; i < shorter.length; i++) result[i] = combine(longer[i] as number, shorter[i] as number)
    return bytesConstant(result)
  })
}

function writeBits(bytes: Uint8Array, bits: LinkedList<bigint>, value: boolean): Uint8Array {
  const written = Uint8Array.from(bytes)
  for (const bit of itemsOf(bits)) {
    const { byte, mask } = place(bytes, Number(bit))
    const old = written[byte] as number
    written[byte] = value ? old | mask : old & ~mask
  }
  return written
}

/** Shifts bits to the left by `by` places and fills with zeros. */
function shift(bytes: Uint8Array, by: number): Uint8Array {
  const result = new Uint8Array(bytes.length)
  if (Math.abs(by) >= bytes.length * 8) return result
  const whole = Math.floor(by / 8)
  const rest = by - whole * 8
  for (let i = 0; i < bytes.length; i++) {
    const high = bytes[i + whole] ?? 0
    const low = bytes[i + whole + 1] ?? 0
    result[i] = ((high << rest) | (low >> (8 - rest))) & 255
  }
  return result
}

/** Rotates bits to the left by `by` places. */
function rotate(bytes: Uint8Array, by: bigint): Uint8Array {
  const size = bytes.length
  if (size === 0) return bytes
  const bits = BigInt(size * 8)
  const places = Number(((by % bits) + bits) % bits)
  const whole = Math.floor(places / 8)
  const rest = places % 8
  const result = new Uint8Array(size)
  for (let i = 0; i < size; i++) {
    const high = bytes[(i + whole) % size] as number
    const low = bytes[(i + whole + 1) % size] as number
    result[i] = ((high << rest) | (low >> (8 - rest))) & 255
  }
  return result
}

function countSetBits(bytes: Uint8Array): number {
  let count = 0
  for (const byte of bytes) for (let rest = byte; rest !== 0; rest &= rest - 1) count++
  return count
}

/** The index of the lowest bit that is set, or −1. */
function findFirstSetBit(bytes: Uint8Array): number {
  for (let i = bytes.length - 1; i >= 0; i--) {
    const byte = bytes[i] as number
    if (byte !== 0) return (bytes.length - 1 - i) * 8 + (31 - Math.clz32(byte & -byte))
  }
  return -1
}

export const bits = {
  andByteString: combination((a, b) => a & b),
  orByteString: combination((a, b) => a | b),
  xorByteString: combination((a, b) => a ^ b),
  complementByteString: builtin(0, 1, (args) => bytesConstant(bytesAt(args, 0).map((byte) => 255 - byte))),
  readBit: builtin(0, 2, (args) => {
    const bytes = bytesAt(args, 0)
    const { byte, mask } = place(bytes, intAt(args, 1))
    return boolConstant(((bytes[byte] as number) & mask) !== 0)
  }),
  writeBits: builtin(0, 3, (args, { bounded }) => {
    const bytes = bytesAt(args, 0)
    if (bounded && bytes.length > maxWrittenSize) fail('writeBits: the byte string is too long')
    const places = contentOf(args, 1, integerListType) as LinkedList<bigint>
    return bytesConstant(writeBits(bytes, places, boolAt(args, 2)))
  }),
  replicateByte: builtin(0, 2, (args) => {
    const count = integerAt(args, 0)
    const byte = byteAt(args, 1)
    if (count < 0n || count > maxMadeSize) fail('replicateByte: the length is out of bounds')
    return bytesConstant(new Uint8Array(Number(count)).fill(byte))
  }),
  shiftByteString: builtin(0, 2, (args) => bytesConstant(shift(bytesAt(args, 0), intAt(args, 1)))),
  rotateByteString: builtin(0, 2, (args) => {
    intAt(args, 1)
    return bytesConstant(rotate(bytesAt(args, 0), integerAt(args, 1)))
  }),
  countSetBits: builtin(0, 1, (args) => integerConstant(BigInt(countSetBits(bytesAt(args, 0))))),
  findFirstSetBit: builtin(0, 1, (args) => integerConstant(BigInt(findFirstSetBit(bytesAt(args, 0))))),
}
