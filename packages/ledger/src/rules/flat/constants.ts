import { compareBytes } from '../../bytes.js'
import { CborReader } from '../../cbor/reader.js'
import { readPlutusData } from '../../transaction/script/plutus-data.js'
import { type BitReader, FlatError } from './bit-reader.js'

/** A type of the default universe, applied to its arguments. */
interface ConstantType {
  readonly tag: number
  readonly parameters: readonly ConstantType[]
}

const INTEGER = 0
const BYTE_STRING = 1
const STRING = 2
const UNIT = 3
const BOOL = 4
const LIST = 5
const PAIR = 6
const APPLICATION = 7
const DATA = 8
const ARRAY = 12
const VALUE = 13
/** The most bytes of a key in a constant of type value. */
const MAX_KEY_SIZE = 32

/** How many types a type takes to be a type of values; 9 to 11 are the BLS12-381 elements, which have no encoding. */
const ARITY: { readonly [tag: number]: number } = {
  [INTEGER]: 0,
  [BYTE_STRING]: 0,
  [STRING]: 0,
  [UNIT]: 0,
  [BOOL]: 0,
  [LIST]: 1,
  [PAIR]: 2,
  [DATA]: 0,
  9: 0,
  10: 0,
  11: 0,
  [ARRAY]: 1,
  [VALUE]: 0,
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** Types nest no deeper in any script that has been seen; a bound keeps recursion from the end of the stack. */
const MAX_DEPTH = 256

/** Passes over a constant: its type as a list of tags, then its value. */
export function readConstant(reader: BitReader): void {
  const tags: number[] = []
  while (reader.bit() === 1) tags.push(reader.bits(4))
  const [type, rest] = parseType(tags, 0, 0)
  if (rest !== tags.length) throw new FlatError('tags after the type of a constant')
  if (type.parameters.length !== ARITY[type.tag]) throw new FlatError('a constant of no type of values')
  readValue(reader, type)
}

function parseType(tags: readonly number[], at: number, depth: number): [ConstantType, number] {
  const tag = tags[at]
  if (tag === undefined || depth > MAX_DEPTH)
    throw new FlatError('the type of a constant ends early or is too deep')
  if (tag !== APPLICATION) {
    if (ARITY[tag] === undefined) throw new FlatError(`type tag ${tag}`)
    return [{ tag, parameters: [] }, at + 1]
  }
  const [applied, behind] = parseType(tags, at + 1, depth + 1)
  const [parameter, rest] = parseType(tags, behind, depth + 1)
  if (applied.parameters.length >= (ARITY[applied.tag] ?? 0)) throw new FlatError('a type applied too often')
  if (parameter.parameters.length !== ARITY[parameter.tag])
    throw new FlatError('a type applied to no type of values')
  return [{ tag: applied.tag, parameters: [...applied.parameters, parameter] }, rest]
}

function readValue(reader: BitReader, { tag, parameters }: ConstantType): void {
  const [first, second] = parameters
  switch (tag) {
    case INTEGER:
      reader.natural()
      return
    case BYTE_STRING:
      reader.byteString()
      return
    case STRING:
      try {
        utf8.decode(reader.byteString())
      } catch (error) {
        if (error instanceof TypeError) throw new FlatError('a string that is no UTF-8')
        throw error
      }
      return
    case UNIT:
      return
    case BOOL:
      reader.bit()
      return
    case LIST:
    case ARRAY:
      while (reader.bit() === 1) if (first) readValue(reader, first)
      return
    case PAIR:
      if (first) readValue(reader, first)
      if (second) readValue(reader, second)
      return
    case DATA: {
      const data = new CborReader(reader.byteString())
      readPlutusData(data)
      data.assertEnd()
      return
    }
    case VALUE:
      readCoins(reader)
      return
    default:
      throw new FlatError('BLS12-381 elements have no encoding')
  }
}

/** Quantities by policy and name: keys rise, no policy is without quantities, these are of 128 bits and not zero. */
function readCoins(reader: BitReader): void {
  let policy: Uint8Array | undefined
  while (reader.bit() === 1) {
    policy = readKey(reader, policy)
    let name: Uint8Array | undefined
    while (reader.bit() === 1) {
      name = readKey(reader, name)
      const quantity = reader.integer()
      if (quantity === 0n || BigInt.asIntN(128, quantity) !== quantity) {
        throw new FlatError('a quantity of zero or of more than 128 bits in a value')
      }
    }
    if (name === undefined) throw new FlatError('a policy without quantities in a value')
  }
}

function readKey(reader: BitReader, last: Uint8Array | undefined): Uint8Array {
  const key = reader.byteString()
  if (key.length > MAX_KEY_SIZE) throw new FlatError('a key of more than 32 bytes in a value')
  if (last !== undefined && compareBytes(last, key) >= 0) throw new FlatError('keys of a value out of order')
  return key
}
