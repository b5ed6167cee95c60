import { fail } from '../failures.js'
import { boolConstant, bytesConstant, integerConstant } from '../values/constant.js'
import { integerListType } from '../values/constant-type.js'
import { itemsOf, type LinkedList } from '../values/list.js'
import {
  type BuiltinFunction,
  boolAt,
  builtin,
  byteAt,
  bytesAt,
  contentOf,
  intAt,
  integerAt,
} from './builtin.js'
import { maxMadeSize } from './byte-strings.js'

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
