/*
 * Blake2b-256 (RFC 7693) as a WebAssembly module. A call of libsodium's costs more than the hash of 64 bytes,
 * so the module hashes in its own memory, for one message, and for two of 64 bytes at once in vectors of two
 * words. It is written out here: twelve rounds of eight mixings, without loops.
 *
 *   memory   state (64 bytes) │ last block (128) │ free from reservedLength on
 *   hash(output, input, length)   any length; input and output are offsets
 *   hashPair(output, input)       64 bytes at input to output, the 64 after them to output + 32
 *   copyPair(to, from)            copies 64 bytes
 */

import { concatBytes } from '@ratatosk/cbor'

/** Bytes at the start of the memory that belong to the module. */
export const reservedLength = 192

const stateOffset = 0
const blockOffset = 64
const blockLength = 128

const initial = [
  0x6a09e667f3bcc908n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn,
  0x1f83d9abfb41bd6bn,
  0x5be0cd19137e2179n,
]

/** The state before the first block: a digest of 32 bytes, no key. */
const start = initial.map((word, i) => (i === 0 ? word ^ 0x01010020n : word))

const schedule = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
]
const rounds = [...schedule, ...schedule.slice(0, 2)]

/** The words that each mixing of a round changes: columns, then diagonals. */
const mixings = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
]

/** How words are computed with: as 64-bit integers, or two at once. */
interface Arithmetic {
  readonly add: Code
  readonly xor: Code
  /** Rotates the word or words on the stack to the right. */
  rotate(bits: number): Code
}

const scalar: Arithmetic = {
  add: [0x7c],
  xor: [0x85],
  rotate: (bits) => [i64Const(BigInt(bits)), 0x8a],
}

/** @param spare a local for the word that is rotated */
function paired(spare: number): Arithmetic {
  const add = vector(0xce)
  const word = get(spare)
  return {
    add,
    xor: vector(0x51),
    rotate(bits) {
      const twice = [set(spare), word, word]
      if (bits === 63) return [twice, add, word, i32Const(63), vector(0xcd), vector(0x50)]
      const lane = range(0).map((i) => (i + bits / 8) % 8)
      return [twice, shuffle([...lane, ...lane.map((i) => i + 8)])]
    },
  }
}

/** The twelve rounds. `state` is the first of 16 locals; `message` is undefined for a zero word. */
function mixAll(
  { add, xor, rotate }: Arithmetic,
  state: number,
  message: (word: number) => number | undefined,
): Code {
  const local = (word: number): number => state + word
  const rotations = new Map([32, 24, 16, 63].map((bits) => [bits, rotate(bits)]))
  const addTo = (target: number, other: number, word?: number): Code => {
    const extra = word === undefined ? undefined : message(word)
    const more = extra === undefined ? [] : [get(extra), add]
    return [get(local(target)), get(local(other)), add, more, set(local(target))]
  }
  const turn = (target: number, other: number, bits: number): Code => [
    get(local(target)),
    get(local(other)),
    xor,
    rotations.get(bits) ?? [],
    set(local(target)),
  ]
  const mix = ([a = 0, b = 0, c = 0, d = 0]: readonly number[], x = 0, y = 0): Code => [
    addTo(a, b, x),
    turn(d, a, 32),
    addTo(c, d),
    turn(b, c, 24),
    addTo(a, b, y),
    turn(d, a, 16),
    addTo(c, d),
    turn(b, c, 63),
  ]
  return rounds.map((words) => mixings.map((mixing, i) => mix(mixing, words[2 * i], words[2 * i + 1])))
}

const words = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

/** `compress(block, bytes so far, all ones for the last block)` changes the state in memory. */
function compress(): Code {
  const [block, count, last, state, message] = [0, 1, 2, 3, 19]
  const stateAt = (word: number): Code => [i32Const(0), i64Load(stateOffset + 8 * word)]
  return [
    ...words(16).flatMap((word) => [get(block), i64Load(8 * word), set(message + word)]),
    ...words(8).flatMap((word) => [stateAt(word), set(state + word)]),
    ...initial.flatMap((constant, word) => [i64Const(constant), set(state + 8 + word)]),
    ...[get(state + 12), get(count), scalar.xor, set(state + 12)],
    ...[get(state + 14), get(last), scalar.xor, set(state + 14)],
    mixAll(scalar, state, (word) => message + word),
    ...words(8).flatMap((word) => [
      i32Const(0),
      ...[stateAt(word), get(state + word), scalar.xor, get(state + 8 + word), scalar.xor],
      i64Store(stateOffset + 8 * word),
    ]),
  ]
}

function hash(): Code {
  const [output, input, length, count] = [0, 1, 2, 3]
  const callCompress = [0x10, 0]
  const add = (local: number, number: Code, plus: Code): Code => [get(local), number, plus, set(local)]
  const isLast = [get(length), i32Const(blockLength), 0x4d]
  const allBlocksButTheLast = [
    ...[0x02, 0x40, 0x03, 0x40, isLast, 0x0d, 1],
    add(count, i64Const(BigInt(blockLength)), scalar.add),
    ...[get(input), get(count), i64Const(0n), callCompress],
    add(input, i32Const(blockLength), [0x6a]),
    add(length, i32Const(blockLength), [0x6b]),
    ...[0x0c, 0, 0x0b, 0x0b],
  ]
  return [
    ...start.flatMap((word, i) => [i32Const(0), i64Const(word), i64Store(stateOffset + 8 * i)]),
    allBlocksButTheLast,
    ...words(8).flatMap((i) => [i32Const(0), vectorConst(0n), vectorStore(blockOffset + 16 * i)]),
    ...[i32Const(blockOffset), get(input), get(length), 0xfc, 0x0a, 0, 0],
    ...[i32Const(blockOffset), get(count), get(length), 0xad, scalar.add, i64Const(-1n), callCompress],
    ...words(4).flatMap((word) => [
      get(output),
      i32Const(0),
      i64Load(stateOffset + 8 * word),
      i64Store(8 * word),
    ]),
  ]
}

function hashPair(): Code {
  const [output, input, state, message, first, second] = [0, 1, 2, 18, 26, 27]
  const messageLength = 64
  const split = (low: Code, high: Code): Code => [
    ...[get(first), get(second), firstWords, low],
    ...[get(first), get(second), secondWords, high],
  ]
  const constants = initial.map((word, i) => {
    if (i === 4) return word ^ BigInt(messageLength)
    return i === 6 ? word ^ 0xffffffffffffffffn : word
  })
  const { xor } = paired(first)
  const result = (word: number): Code => [
    ...[get(state + word), get(state + 8 + word), xor],
    ...[vectorConst(start[word] ?? 0n), xor],
  ]
  return [
    ...words(4).flatMap((i) => [
      ...[get(input), vectorLoad(16 * i), set(first)],
      ...[get(input), vectorLoad(messageLength + 16 * i), set(second)],
      split([set(message + 2 * i)], [set(message + 2 * i + 1)]),
    ]),
    ...[...start, ...constants].flatMap((word, i) => [vectorConst(word), set(state + i)]),
    mixAll(paired(first), state, (word) => (word < 8 ? message + word : undefined)),
    ...words(2).flatMap((i) => [
      ...[result(2 * i), set(first), result(2 * i + 1), set(second)],
      ...[get(output), get(first), get(second), firstWords, vectorStore(16 * i)],
      ...[get(output), get(first), get(second), secondWords, vectorStore(32 + 16 * i)],
    ]),
  ]
}

function copyPair(): Code {
  const [to, from] = [0, 1]
  return words(4).flatMap((i) => [get(to), get(from), vectorLoad(16 * i), vectorStore(16 * i)])
}

/** The bytes of the module, which exports `memory`, of one page, and the three functions. */
export function writeModule(): Uint8Array {
  const list = (...items: readonly Bytes[]): Uint8Array => joined(unsigned(items.length), ...items)
  const section = (id: number, content: Uint8Array): Uint8Array =>
    joined([id, ...unsigned(content.length)], content)
  const type = (...parameters: Code): Uint8Array =>
    joined([0x60], list(...parameters.map((one) => [one])), [0])
  const body = (locals: Code, code: Code): Uint8Array => {
    const content = joined(list(...(locals.length === 0 ? [] : [locals])), code, [0x0b])
    return joined(unsigned(content.length), content)
  }
  const exported = (name: string, kind: number, index: number): Uint8Array =>
    joined([name.length], new TextEncoder().encode(name), [kind, index])
  return joined(
    [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    section(1, list(type(i32, i64, i64), type(i32, i32, i32), type(i32, i32))),
    section(3, list([0], [1], [2], [2])),
    section(5, list([0, 1])),
    section(
      7,
      list(
        exported('memory', 2, 0),
        exported('hash', 0, 1),
        exported('hashPair', 0, 2),
        exported('copyPair', 0, 3),
      ),
    ),
    section(
      10,
      list(
        body([32, i64], compress()),
        body([1, i64], hash()),
        body([26, v128], hashPair()),
        body([], copyPair()),
      ),
    ),
  )
}

type Bytes = Code | Uint8Array

const joined = (...parts: readonly Bytes[]): Uint8Array =>
  concatBytes(...parts.map((part) => (part instanceof Uint8Array ? part : Uint8Array.from(flat(part)))))

/** The bytes of instructions of WebAssembly, in groups. */
type Code = readonly (number | Code)[]

function flat(code: Code): readonly number[] {
  const bytes: number[] = []
  const walk = (group: Code): void => {
    for (const each of group)
      if (typeof each === 'number') bytes.push(each)
      else walk(each)
  }
  walk(code)
  return bytes
}

/** An unsigned number in LEB128. */
function unsigned(value: number): number[] {
  const rest = value >>> 7
  return rest === 0 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(rest)]
}

/** A signed number in LEB128. */
function signed(value: bigint): number[] {
  const low = Number(value & 0x7fn)
  const rest = value >> 7n
  const isEnd = rest === (low & 0x40 ? -1n : 0n)
  return isEnd ? [low] : [low | 0x80, ...signed(rest)]
}

const i32 = 0x7f
const i64 = 0x7e
const v128 = 0x7b

const get = (local: number): Code => [0x20, ...unsigned(local)]
const set = (local: number): Code => [0x21, ...unsigned(local)]
const i32Const = (value: number): Code => [0x41, ...signed(BigInt(value))]
const i64Const = (value: bigint): Code => [0x42, ...signed(BigInt.asIntN(64, value))]
const i64Load = (offset: number): Code => [0x29, 3, ...unsigned(offset)]
const i64Store = (offset: number): Code => [0x37, 3, ...unsigned(offset)]
const vector = (code: number, ...immediates: number[]): Code => [0xfd, ...unsigned(code), ...immediates]
const vectorLoad = (offset: number): Code => vector(0x00, 3, ...unsigned(offset))
const vectorStore = (offset: number): Code => vector(0x0b, 3, ...unsigned(offset))
/** A vector with the same word twice. */
const vectorConst = (word: bigint): Code => {
  const bytes = Array.from({ length: 8 }, (_, i) => Number((word >> BigInt(8 * i)) & 0xffn))
  return vector(0x0c, ...bytes, ...bytes)
}
const shuffle = (lanes: readonly number[]): Code => vector(0x0d, ...lanes)
const range = (from: number): number[] => Array.from({ length: 8 }, (_, i) => from + i)
/** Of two vectors, the first words and the second words. */
const firstWords = shuffle([...range(0), ...range(16)])
const secondWords = shuffle([...range(8), ...range(24)])
