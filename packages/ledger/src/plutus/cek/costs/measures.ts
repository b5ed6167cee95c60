import { fail } from '../failures.js'
import type { Meter } from '../meter.js'
import { type Coins, type Content, ValueKind } from '../values/constant.js'
import { TypeTag } from '../values/constant-type.js'
import type { DataValue } from '../values/data.js'
import { type LinkedList, lengthOf } from '../values/list.js'
import type { Value } from '../values/value.js'

/** How the size of an argument is measured. */
export type Measure =
  | 'ignored'
  | 'integer'
  | 'bytes'
  | 'text'
  | 'list'
  | 'data'
  | 'dataNodes'
  /** The smaller size of two arguments, used for both. */
  | 'lesserData'
  /** The absolute value of an integer. */
  | 'literal'
  /** An integer that is a number of bytes, converted to words. */
  | 'wordsOfBytes'
  /** The number of quantities of a value. */
  | 'coins'
  /** The depth of a value's two maps as binary trees. */
  | 'coinsDepth'

/** The maximum of sizes, which are floating-point: that of a counter. The exact computation uses it too. */
const largest = 2 ** 63

/** Since ledger version 11, builtins fail on larger integers (64-bit words) and byte strings (bytes). */
const maxIntegerWords = 4096
const maxByteStringSize = 65_536

/** The size of an argument. Data is traversed no further than `limit`. */
type Measuring = (args: readonly Value[], at: number, limit: number) => number

/** @param protocolMajor decides how text is measured and what is too large */
export function measuring(measure: Measure, protocolMajor: number): Measuring {
  const later = protocolMajor >= 11
  switch (measure) {
    case 'ignored':
      return () => 0
    case 'integer':
      return (args, at) => {
        const words = integerSize(content(args, at, TypeTag.integer) as bigint)
        if (later && words > maxIntegerWords) fail('An integer has too many bits')
        return words
      }
    case 'bytes':
      return (args, at) => {
        const bytes = content(args, at, TypeTag.byteString) as Uint8Array
        if (later && bytes.length > maxByteStringSize) fail('A byte string is too long')
        return bytesSize(bytes)
      }
    case 'text':
      if (later) {
        return (args, at) => Math.floor(utf8Length(content(args, at, TypeTag.string) as string) / 4)
      }
      return (args, at) => characterCount(content(args, at, TypeTag.string) as string)
    case 'list':
      return (args, at) => lengthOf(content(args, at, TypeTag.list) as LinkedList<Content>)
    case 'data':
      return (args, at, limit) => dataSize(content(args, at, TypeTag.data) as DataValue, limit)
    case 'dataNodes':
      return (args, at, limit) => dataNodes(content(args, at, TypeTag.data) as DataValue, limit)
    case 'lesserData':
      return (args, _, limit) =>
        lesserDataSize(
          content(args, 0, TypeTag.data) as DataValue,
          content(args, 1, TypeTag.data) as DataValue,
          limit,
        )
    case 'literal':
      return (args, at) => magnitude(content(args, at, TypeTag.integer) as bigint)
    case 'wordsOfBytes':
      return (args, at) => Math.ceil(magnitude(content(args, at, TypeTag.integer) as bigint) / 8)
    case 'coins':
      return (args, at) => quantityCount(content(args, at, TypeTag.value) as Coins)
    case 'coinsDepth':
      return (args, at) => depth(content(args, at, TypeTag.value) as Coins)
  }
}

/** The limit for traversing data: where its cost exceeds the remaining budget. */
export function reach(meter: Meter, slope: number): number {
  return slope > 0 ? Math.ceil(meter.stepsLeft() / slope) : maxNodes
}

/** The limit if traversing data is free: more nodes than any script needs. */
const maxNodes = 10_000_000

function content(args: readonly Value[], at: number, tag: number): Content {
  const value = args[at]
  if (value === undefined || value.kind !== ValueKind.constant || value.type.tag !== tag) {
    return fail('An argument of a builtin has the wrong type')
  }
  return value.content
}

function magnitude(value: bigint): number {
  const size = Number(value < 0n ? -value : value)
  return Math.min(size, largest)
}

export function quantityCount(coins: Coins): number {
  let count = 0
  for (const names of coins.values()) count += names.size
  return count
}

function depth(coins: Coins): number {
  let widest = 0
  for (const names of coins.values()) widest = Math.max(widest, names.size)
  return levels(coins.size) + levels(widest)
}

function levels(size: number): number {
  return size === 0 ? 0 : 32 - Math.clz32(size)
}

/** How the nodes of data are counted: `charge` returns the share of one node. */
type Charge = (data: DataValue) => number

/** Four words per node, plus the size of integers and byte strings (`ExMemoryUsage Data` in plutus-core). */
const memoryCharge: Charge = (data) => {
  if (data.kind === 'integer') return 4 + integerSize(data.value)
  return data.kind === 'bytes' ? 4 + bytesSize(data.value) : 4
}

const nodeCharge: Charge = () => 1

/**
 * The size of data in words, or a number above `limit`. Data with shared parts can be exponentially larger
 * than the work of building it, so the traversal must stop where the budget ends.
 */
export function dataSize(data: DataValue, limit: number): number {
  return walk(data, limit, memoryCharge)
}

/** Returns the number of nodes of data, or a number above `limit`. */
export function dataNodes(data: DataValue, limit: number): number {
  return walk(data, limit, nodeCharge)
}

/** Returns the smaller of two sizes. The work is proportional to that size. */
export function lesserDataSize(a: DataValue, b: DataValue, limit: number): number {
  for (let reach = 256; ; reach *= 4) {
    const bound = Math.min(reach, limit)
    const first = dataSize(a, bound)
    if (first <= bound) return Math.min(first, dataSize(b, first))
    const second = dataSize(b, bound)
    if (second <= bound) return second
    if (bound === limit) return Math.min(first, second)
  }
}

function walk(data: DataValue, limit: number, charge: Charge): number {
  const open: DataValue[] = [data]
  let size = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    size += charge(next)
    if (size > limit) return size
    // Every child counts at least one, so the pending children must not exceed the limit.
    if (next.kind === 'map') {
      if (size + (next.entries?.length ?? 0) > limit) return size + (next.entries?.length ?? 0)
      for (let cell = next.entries; cell !== null; cell = cell.tail)
        open.push(cell.head.first, cell.head.second)
    } else if (next.kind === 'constructor' || next.kind === 'list') {
      const items = next.kind === 'constructor' ? next.fields : next.items
      if (size + (items?.length ?? 0) > limit) return size + (items?.length ?? 0)
      for (let cell = items; cell !== null; cell = cell.tail) open.push(cell.head)
    }
  }
  return size
}

const lastOfOneWord = 2n ** 64n - 1n

/** The size of an integer in 64-bit words; zero has one. */
function integerSize(value: bigint): number {
  if (value <= lastOfOneWord && value >= -lastOfOneWord) return 1
  const digits = value.toString(16)
  return Math.ceil((value < 0n ? digits.length - 1 : digits.length) / 16)
}

/** The size of a byte string in 8-byte words; the empty one has one. */
function bytesSize({ length }: Uint8Array): number {
  return length === 0 ? 1 : Math.ceil(length / 8)
}

/** The length of a text in Unicode code points. */
function characterCount(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xdc00 && unit <= 0xdfff) count--
  }
  return count
}

/** The length of a text in bytes of UTF-8. */
function utf8Length(text: string): number {
  let length = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    // Half of a surrogate pair, which takes four bytes. Texts come from UTF-8, so every surrogate is paired.
    length += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3
  }
  return length
}
