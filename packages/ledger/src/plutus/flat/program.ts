import { CborReader, isDecodeError, toHex } from '@ratatosk/cbor'
import { readPlutusData } from '../../transaction/script/plutus-data.js'
import type { PlutusLanguage } from '../../transaction/types.js'
import { type Coins, Constant, type Content } from '../cek/values/constant.js'
import {
  arrayType,
  type ConstantType,
  listType,
  pairType,
  simpleType,
  TypeTag,
} from '../cek/values/constant-type.js'
import { type DataValue, decodeData } from '../cek/values/data.js'
import { listOf } from '../cek/values/list.js'
import {
  apply,
  builtin,
  caseOf,
  constant,
  constr,
  error,
  type Term,
  TermKind,
  unary,
  variable,
} from '../cek/values/term.js'

export interface Program {
  readonly term: Term
  /** False if a variable is free: the ledger fails such a script before it runs it. */
  readonly closed: boolean
}

/** The language and ledger version that decide which versions of Plutus Core and which builtins exist. */
interface Target {
  readonly language: PlutusLanguage
  readonly protocolMajor: number
}

const introducedIn: { readonly [language in PlutusLanguage]: number } = {
  PlutusV1: 5,
  PlutusV2: 7,
  PlutusV3: 9,
}

/**
 * Whether the ledger accepts bytes as a Plutus script: a CBOR byte string with one flat program whose version
 * and builtins the language has at this ledger version. Only Plutus V3 forbids bytes after it.
 */
export function isPlutusScript(bytes: Uint8Array, language: PlutusLanguage, protocolMajor: number): boolean {
  if (protocolMajor < introducedIn[language]) return false
  try {
    const wrapper = new CborReader(bytes)
    const flat = wrapper.readBytes()
    if (language === 'PlutusV3') wrapper.assertEnd()
    const reader = new BitReader(flat)
    readProgram(reader, { language, protocolMajor })
    reader.filler()
    if (!reader.atEnd()) throw new FlatError('bytes after the program')
    return true
  } catch (error) {
    if (error instanceof FlatError || isDecodeError(error)) return false
    throw error
  }
}

/** A term whose parts are being read. */
interface Open {
  readonly kind: number
  readonly tag: number
  readonly parts: Term[]
}

/**
 * Decodes a script: a flat program in a CBOR byte string. {@link isPlutusScript} checks version and builtins.
 * @throws FlatError or DecodeError if the bytes are not a program
 */
export function decodeProgram(script: Uint8Array): Program {
  return decodeFlat(new CborReader(script).readBytes())
}

export function decodeFlat(flat: Uint8Array): Program {
  return readProgram(new BitReader(flat))
}

/**
 * Reads a program, and checks it against a given language and ledger version. Terms nest as deep as a script
 * is long, so open terms are on a stack of this function's own.
 */
function readProgram(reader: BitReader, target?: Target): Program {
  const version = [reader.natural(), reader.natural(), reader.natural()] as const
  if (target !== undefined && !coreIsAvailable(version, target.language, target.protocolMajor)) {
    throw new FlatError(`Plutus Core ${version.join('.')} is not available`)
  }
  const hasSums = target === undefined || version[1] >= 1
  const open: Open[] = []
  let scope = 0
  let closed = true

  for (;;) {
    const kind = reader.bits(4)
    let done: Term | undefined
    switch (kind) {
      case TermKind.variable: {
        const index = reader.natural()
        if (index < 1 || index > scope) closed = false
        done = variable(index)
        break
      }
      case TermKind.constant:
        done = constant(decodeConstant(reader))
        break
      case TermKind.error:
        done = error
        break
      case TermKind.builtin:
        done = builtin(readBuiltin(reader, target))
        break
      case TermKind.constr:
        if (!hasSums) throw new FlatError('constr before Plutus Core 1.1.0')
        open.push({ kind, tag: reader.natural(), parts: [] })
        done = completeList(reader, open)
        break
      case TermKind.lambda:
        scope++
        open.push({ kind, tag: 0, parts: [] })
        break
      case TermKind.case:
        if (!hasSums) throw new FlatError('case before Plutus Core 1.1.0')
        open.push({ kind, tag: 0, parts: [] })
        break
      case TermKind.delay:
      case TermKind.force:
      case TermKind.apply:
        open.push({ kind, tag: 0, parts: [] })
        break
      default:
        throw new FlatError(`term tag ${kind}`)
    }
    while (done !== undefined) {
      const around = open.at(-1)
      if (around === undefined) return { term: done, closed }
      around.parts.push(done)
      if (around.kind === TermKind.lambda) scope--
      done = complete(reader, open, around)
    }
  }
}

function readBuiltin(reader: BitReader, target: Target | undefined): number {
  const index = reader.bits(7)
  if (target !== undefined && !builtinIsAvailable(index, target.language, target.protocolMajor)) {
    throw new FlatError(`builtin ${index} is not available`)
  }
  return index
}

/** The enclosing term, if what was just read completes it. */
function complete(reader: BitReader, open: Open[], { kind, parts }: Open): Term | undefined {
  const [first, second] = parts
  if (first === undefined) return undefined
  switch (kind) {
    case TermKind.apply:
      if (second === undefined) return undefined
      open.pop()
      return apply(first, second)
    case TermKind.constr:
    case TermKind.case:
      return completeList(reader, open)
    default:
      open.pop()
      return unary(kind, first)
  }
}

/** Each field of `constr` and each branch of `case` is preceded by a bit. */
function completeList(reader: BitReader, open: Open[]): Term | undefined {
  if (reader.bit() === 1) return undefined
  const around = open.pop()
  if (around === undefined) return undefined
  const { kind, tag, parts } = around
  if (kind === TermKind.constr) return constr(tag, parts)
  const [scrutinee, ...branches] = parts
  return scrutinee === undefined ? undefined : caseOf(scrutinee, branches)
}

/** The ledger version that added a builtin, by its number in flat (plutus-ledger-api, Common.Versions). */
type Introduced = { readonly [language in PlutusLanguage]: number }

const batches: readonly { readonly last: number; readonly since: Introduced }[] = [
  // Alonzo: integers, byte strings, Blake2b-256, SHA, Ed25519, strings, lists, pairs, data
  { last: 50, since: { PlutusV1: 5, PlutusV2: 7, PlutusV3: 9 } },
  // serialiseData
  { last: 51, since: { PlutusV1: 11, PlutusV2: 7, PlutusV3: 9 } },
  // ECDSA and Schnorr over secp256k1
  { last: 53, since: { PlutusV1: 11, PlutusV2: 8, PlutusV3: 9 } },
  // BLS12-381, Keccak-256, Blake2b-224
  { last: 72, since: { PlutusV1: 11, PlutusV2: 11, PlutusV3: 9 } },
  // integerToByteString, byteStringToInteger
  { last: 74, since: { PlutusV1: 11, PlutusV2: 10, PlutusV3: 9 } },
  // bitwise operations, RIPEMD-160
  { last: 86, since: { PlutusV1: 11, PlutusV2: 11, PlutusV3: 10 } },
  // modular exponentiation, arrays, multi-scalar multiplication, values
  { last: 100, since: { PlutusV1: 11, PlutusV2: 11, PlutusV3: 11 } },
]

function builtinIsAvailable(builtin: number, language: PlutusLanguage, protocolMajor: number): boolean {
  const batch = batches.find(({ last }) => builtin <= last)
  return batch !== undefined && protocolMajor >= batch.since[language]
}

/** All languages have Plutus Core 1.0.0 from the start; older ones got 1.1.0 (`constr`, `case`) later. */
function coreIsAvailable(
  [major, minor, patch]: readonly [number, number, number],
  language: PlutusLanguage,
  protocolMajor: number,
): boolean {
  if (major !== 1 || patch !== 0) return false
  return minor === 0 || (minor === 1 && protocolMajor >= (language === 'PlutusV3' ? 9 : 11))
}

const maxTypeDepth = 256
/** Units and pairs take no bits of their own: a list of tuples could be much larger than its script. */
const valuesPerByte = 64
const maxKeySize = 32
const minQuantity = -(2n ** 127n)
const maxQuantity = 2n ** 127n - 1n

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A constant in a script: the tags of its type, then its value. */
function decodeConstant(reader: BitReader): Constant {
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

/** The bytes are not a flat-encoded program. Internal to this folder. */
export class FlatError extends Error {
  override readonly name = 'FlatError'
}

/** Reads flat's primitives, most significant bit first. */
class BitReader {
  #bit = 0

  constructor(readonly bytes: Uint8Array) {}

  bit(): number {
    const byte = this.bytes[this.#bit >> 3]
    if (byte === undefined) throw new FlatError('the program ends early')
    const value = (byte >> (7 - (this.#bit & 7))) & 1
    this.#bit += 1
    return value
  }

  bits(count: number): number {
    let value = 0
    for (let i = 0; i < count; i += 1) value = (value << 1) | this.bit()
    return value
  }

  /** A natural number in groups of seven bits, least significant first. Only its low 53 bits are returned. */
  natural(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const group = this.bits(8)
      if (scale < 2 ** 49) value += (group & 0x7f) * scale
      if (group < 0x80) return value
    }
  }

  /** An integer of any size in zigzag encoding: 0, −1, 1, −2, … */
  integer(): bigint {
    const groups: string[] = []
    let group: number
    do {
      group = this.bits(8)
      groups.push((group & 0x7f).toString(2).padStart(7, '0'))
    } while (group >= 0x80)
    const natural = BigInt(`0b${groups.reverse().join('')}`)
    return (natural & 1n) === 0n ? natural >> 1n : -(natural >> 1n) - 1n
  }

  /** The filler: zeros and a one, up to the end of a byte. */
  filler(): void {
    while (this.bit() === 0);
    if ((this.#bit & 7) !== 0) throw new FlatError('a filler that ends inside a byte')
  }

  /** A byte string: a filler, then blocks of up to 255 bytes behind their length. The last one is empty. */
  byteString(): Uint8Array {
    this.filler()
    const blocks: Uint8Array[] = []
    let size = 0
    for (;;) {
      const at = this.#bit >> 3
      const length = this.bytes[at]
      if (length === undefined || at + length >= this.bytes.length) throw new FlatError('a string ends early')
      this.#bit += (1 + length) * 8
      if (length === 0) break
      blocks.push(this.bytes.subarray(at + 1, at + 1 + length))
      size += length
    }
    if (blocks.length === 1 && blocks[0]) return blocks[0]
    const whole = new Uint8Array(size)
    let position = 0
    for (const block of blocks) {
      whole.set(block, position)
      position += block.length
    }
    return whole
  }

  atEnd(): boolean {
    return this.#bit === this.bytes.length * 8
  }
}
