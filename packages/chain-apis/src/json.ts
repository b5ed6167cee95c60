import { randomUUID } from 'node:crypto'
import { InvalidInputError, maxRequestDepth } from './input.js'
import { createPause } from './pause.js'

/** A number that doubles may round, after what stands before a value; also matches in some strings. */
const longNumber = /[[:,\s]-?(?:\d{16}|\d+[.eE])/
const scalar = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
/** With it begins the text that stands for an integer: no client can guess it. */
const marker = `${randomUUID()} `
/** Reading more digits takes quadratic time. */
const maxDigits = 1000

/**
 * Parses a request. Integers that doubles would round become bigints.
 *
 * @throws {SyntaxError} it is not JSON, or no number can hold one of its numbers
 * @throws {InvalidInputError} it nests too deeply
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (nestsDeeper(value, maxRequestDepth)) {
    throw new InvalidInputError(`it nests deeper than ${maxRequestDepth} levels`)
  }
  if (!longNumber.test(text)) return value
  return JSON.parse(text.replace(scalar, markInteger), (_key, member) =>
    typeof member === 'string' && member.startsWith(marker) ? BigInt(member.slice(marker.length)) : member,
  )
}

/** A long integer as text that stands for it; other scalars as they are. */
function markInteger(text: string): string {
  if (text.startsWith('"')) return text
  const number = Number(text)
  if (!Number.isFinite(number) || text.length > maxDigits) throw new SyntaxError('A number is out of range')
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(text) ? text : `"${marker}${text}"`
}

function nestsDeeper(json: unknown, levels: number): boolean {
  if (typeof json !== 'object' || json === null) return false
  return levels === 0 || Object.values(json).some((member) => nestsDeeper(member, levels - 1))
}

/** JSON that is encoded already: in UTF-8, or as text that is read while it is sent. */
export class EncodedJson<Part extends JsonPart = JsonPart> {
  constructor(readonly part: Part) {}
}

/**
 * Encodes JSON with bigints as numbers of any size, as Kupo and Ogmios write quantities, and omits
 * `undefined` members. The value is small and without {@link EncodedJson}: it is encoded in one turn.
 */
export function encodeJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map((item) => encodeJson(item ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = membersOf(value).map(([key, member]) => `${JSON.stringify(key)}:${encodeJson(member)}`)
  return `{${members.join(',')}}`
}

/** A part of JSON text: text, encoded text, or text that is read while it is sent. */
type JsonPart = string | Buffer | AsyncIterable<string>

/** Characters of a part of JSON, and of a string that is encoded at a time. */
const partLength = 64 * 1024

/**
 * The same, in parts of about 64 KiB, between which other work takes its turn. The value may hold {@link
 * EncodedJson}, which is not copied, and iterables, which are arrays.
 */
export async function* encodeJsonParts(value: unknown): AsyncGenerator<string | Buffer, void> {
  const pause = createPause()
  let text = ''
  for (const piece of piecesOf(value)) {
    if (typeof piece === 'string') text += piece
    if (typeof piece === 'string' && text.length < partLength) continue
    yield text
    text = ''
    await pause()
    if (typeof piece === 'string') continue
    if (Buffer.isBuffer(piece)) yield piece
    else yield* piece
  }
  if (text !== '') yield text
}

function* piecesOf(value: unknown): Generator<JsonPart, void> {
  if (value instanceof EncodedJson) yield value.part
  else if (typeof value === 'string' && value.length > partLength) yield* piecesOfText(value)
  else if (typeof value !== 'object' || value === null) yield encodeJson(value)
  else if (isIterable(value)) yield* piecesOfList(value)
  else {
    let separator = '{'
    for (const [key, member] of membersOf(value)) {
      yield `${separator}${JSON.stringify(key)}:`
      yield* piecesOf(member)
      separator = ','
    }
    yield separator === '{' ? '{}' : '}'
  }
}

function* piecesOfList(items: Iterable<unknown>): Generator<JsonPart, void> {
  let separator = '['
  for (const item of items) {
    yield separator
    yield* piecesOf(item ?? null)
    separator = ','
  }
  yield separator === '[' ? '[]' : ']'
}

/** Where a character of two halves is cut, both are escaped. */
function* piecesOfText(text: string): Generator<string, void> {
  yield '"'
  for (let start = 0; start < text.length; start += partLength)
    yield JSON.stringify(text.slice(start, start + partLength)).slice(1, -1)
  yield '"'
}

/** An array as JSON of which each item is made when it is encoded. */
export function* lazyList<T>(items: Iterable<T>, toJson: (item: T) => unknown): Generator<unknown, void> {
  for (const item of items) yield toJson(item)
}

function membersOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, member]) => member !== undefined)
}

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value
}
