import { CborReader, toHex } from '@ratatosk/cbor'
import { readPlutusData } from '../../transaction/script/plutus-data.js'
import { type Coins, Constant, type Content } from '../cek/values/constant.js'
import {
  arrayType,
  type ConstantType,
  listType,
  pairType,
  simpleType,
  TypeTag,
} from '../cek/values/constant-type.js'
import type { DataValue } from '../cek/values/data.js'
import { decodeData } from '../cek/values/data-cbor.js'
import { listOf } from '../cek/values/list.js'
import { type BitReader, FlatError } from './bit-reader.js'

const maxTypeDepth = 256
/** Units and pairs take no bits of their own: a list of tuples could be much larger than its script. */
const valuesPerByte = 64
const maxKeySize = 32
const minQuantity = -(2n ** 127n)
const maxQuantity = 2n ** 127n - 1n

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A constant in a script: the tags of its type, then its value. */
export function decodeConstant(reader: BitReader): Constant {
  const tags: number[] = []
  while (reader.bit() === 1) tags.push(reader.bits(4))
  const [type, rest] = readType(tags, 0, 0)
  if (rest !== tags.length) throw new FlatError('tags after the type of a constant')
  return new Constant(type, readContent(reader, type, { left: valuesPerByte * reader.bytes.length }))
}

/** Type applications are in prefix notation: `7 5 t` is a list of `t`, `7 7 6 a b` a pair. */
function readType(tags: readonly number[], at: number, depth: number): [ConstantType, number] {
  if (depth > maxTypeDepth) throw new FlatError('a type that nests too deep')
  const tag = tags[at]
  if (tag !== TypeTag.application) {
    const type = tag === undefined ? undefined : simpleType(tag)
    if (type === undefined) throw new FlatError(`no type of values: ${tag}`)
    return [type, at + 1]
  }
  if (tags[at + 1] === TypeTag.list || tags[at + 1] === TypeTag.array) {
    const [element, rest] = readType(tags, at + 2, depth + 1)
    return [tags[at + 1] === TypeTag.list ? listType(element) : arrayType(element), rest]
  }
  if (tags[at + 1] === TypeTag.application && tags[at + 2] === TypeTag.pair) {
    const [first, middle] = readType(tags, at + 3, depth + 1)
    const [second, rest] = readType(tags, middle, depth + 1)
    return [pairType(first, second), rest]
  }
  throw new FlatError('a type that is applied wrongly')
}

/** @param budget of values, with the parts of lists and pairs */
function readContent(reader: BitReader, type: ConstantType, budget: { left: number }): Content {
  if (budget.left-- <= 0) throw new FlatError('a constant that is much larger than the script')
  switch (type.tag) {
    case TypeTag.integer:
      return reader.integer()
    case TypeTag.byteString:
      return reader.byteString()
    case TypeTag.string:
      return decodeText(reader.byteString())
    case TypeTag.unit:
      return undefined
    case TypeTag.bool:
      return reader.bit() === 1
    case TypeTag.list:
      return listOf(readItems(reader, type.first as ConstantType, budget))
    case TypeTag.array:
      return readItems(reader, type.first as ConstantType, budget)
    case TypeTag.pair: {
      const first = readContent(reader, type.first as ConstantType, budget)
      return { first, second: readContent(reader, type.second as ConstantType, budget) }
    }
    case TypeTag.data:
      return readData(reader.byteString())
    case TypeTag.value:
      return readCoins(reader)
    default:
      throw new FlatError('BLS12-381 elements have no encoding')
  }
}

function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new FlatError('a string that is not valid UTF-8')
  }
}

function readItems(reader: BitReader, element: ConstantType, budget: { left: number }): Content[] {
  const items: Content[] = []
  while (reader.bit() === 1) items.push(readContent(reader, element, budget))
  return items
}

/** Decodes data in a script. */
function readData(bytes: Uint8Array): DataValue {
  const reader = new CborReader(bytes)
  readPlutusData(reader)
  reader.assertEnd()
  return decodeData(new CborReader(bytes))
}

/** Keys must be ascending, and quantities 128-bit integers other than zero. */
function readCoins(reader: BitReader): Coins {
  const coins = new Map<string, ReadonlyMap<string, bigint>>()
  let lastPolicy: string | undefined
  while (reader.bit() === 1) {
    const policy = readKey(reader, lastPolicy)
    lastPolicy = policy
    const names = new Map<string, bigint>()
    let lastName: string | undefined
    while (reader.bit() === 1) {
      const name = readKey(reader, lastName)
      lastName = name
      const quantity = reader.integer()
      if (quantity === 0n || quantity < minQuantity || quantity > maxQuantity) {
        throw new FlatError('a quantity of zero or of more than 128 bits in a value')
      }
      names.set(name, quantity)
    }
    if (names.size === 0) throw new FlatError('a policy without quantities in a value')
    coins.set(policy, names)
  }
  return coins
}

function readKey(reader: BitReader, last: string | undefined): string {
  const bytes = reader.byteString()
  const key = toHex(bytes)
  if (bytes.length > maxKeySize) throw new FlatError('a key of more than 32 bytes in a value')
  if (last !== undefined && last >= key) throw new FlatError('keys of a value out of order')
  return key
}
