import { fail } from '../failures.js'
import type { Meter } from '../meter.js'
import { type Coins, type Content, ValueKind } from '../values/constant.js'
import { TypeTag } from '../values/constant-type.js'
import type { DataValue } from '../values/data.js'
import { dataNodes, dataSize, lesserDataSize } from '../values/data-size.js'
import { type LinkedList, lengthOf } from '../values/list.js'
import { bytesSize, characterCount, integerSize, utf8Length } from '../values/sizes.js'
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
