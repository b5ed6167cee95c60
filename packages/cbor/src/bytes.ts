/** Character codes of the high and the low hex digit of each byte. */
const highDigit = new Uint8Array(256)
const lowDigit = new Uint8Array(256)
/** The value of each hex digit by its character code; -1 for other characters. */
const digitValue = new Int8Array(128).fill(-1)
for (let byte = 0; byte < 256; byte++) {
  const text = byte.toString(16).padStart(2, '0')
  highDigit[byte] = text.charCodeAt(0)
  lowDigit[byte] = text.charCodeAt(1)
}
for (const digit of '0123456789abcdefABCDEF') digitValue[digit.charCodeAt(0)] = Number.parseInt(digit, 16)

/** Characters made by one call of `String.fromCharCode`; engines limit the number of arguments. */
const chunkLength = 4096

/** The bytes as lower-case hex. @throws TypeError for what is no bytes, such as their hex */
export function toHex(bytes: Uint8Array): string {
  if (!ArrayBuffer.isView(bytes)) throw new TypeError(`toHex takes bytes, not ${typeof bytes}`)
  if (bytes.length <= chunkLength) return chunkToHex(bytes, 0, bytes.length)
  let text = ''
  for (let start = 0; start < bytes.length; start += chunkLength) {
    text += chunkToHex(bytes, start, Math.min(start + chunkLength, bytes.length))
  }
  return text
}

// An array of character codes is faster than appending characters, and as fast as a Buffer for hashes.
function chunkToHex(bytes: Uint8Array, start: number, end: number): string {
  const codes = new Array<number>(2 * (end - start))
  for (let i = start, at = 0; i < end; i++) {
    const byte = bytes[i] as number
    codes[at++] = highDigit[byte] as number
    codes[at++] = lowDigit[byte] as number
  }
  return String.fromCharCode.apply(null, codes)
}

/** {@link toHex}, and null for what is absent. */
export const hexOrNull = (bytes: Uint8Array | undefined): string | null =>
  bytes === undefined ? null : toHex(bytes)

/**
 * The bytes of a hex text, upper or lower case.
 *
 * @throws RangeError if the text has an odd number of characters or a character that is not a hex digit
 */
export function fromHex(text: string): Uint8Array {
  if (text.length % 2 !== 0) throw new RangeError('Hex text has an odd number of digits')
  const bytes = new Uint8Array(text.length / 2)
  for (let i = 0, at = 0; i < bytes.length; i++) {
    const high = digitValue[text.charCodeAt(at++)] ?? -1
    const low = digitValue[text.charCodeAt(at++)] ?? -1
    if (high < 0 || low < 0) throw new RangeError(`Not a hex digit at position ${high < 0 ? at - 2 : at - 1}`)
    bytes[i] = (high << 4) | low
  }
  return bytes
}

/** Whether two byte strings are equal. Not constant-time: do not compare secrets with it. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/**
 * Compares by unsigned bytes, a prefix before its extensions: the order in which the ledger sorts hashes.
 *
 * @returns a negative number, zero or a positive number, as `Array.prototype.sort` expects
 */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const difference = (a[i] as number) - (b[i] as number)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/**
 * The bytes as a plain `Uint8Array` over the same memory. Subarrays of a Node.js `Buffer` are Buffers, which
 * are slower.
 */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return bytes.constructor === Uint8Array
    ? bytes
    : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Concatenates byte strings into a new array. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const part of parts) length += part.length
  const whole = new Uint8Array(length)
  let position = 0
  for (const part of parts) {
    whole.set(part, position)
    position += part.length
  }
  return whole
}

/** The unsigned integer that the bytes encode in big-endian order; zero for no bytes. */
export function bigintOf(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${toHex(bytes)}`)
}

/** One character a byte: half as long as hex, and faster. */
function textOf(bytes: Uint8Array): string {
  const charactersOf = (part: Uint8Array) => String.fromCharCode.apply(null, part as unknown as number[])
  if (bytes.length <= chunkLength) return charactersOf(bytes)
  let text = ''
  for (let start = 0; start < bytes.length; start += chunkLength)
    text += charactersOf(bytes.subarray(start, start + chunkLength))
  return text
}

function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

/** A map by byte strings of the same content, in the order of insertion. It keeps copies of them. */
export class BytesMap<Value> {
  readonly #values = new Map<string, Value>()

  constructor(entries: Iterable<readonly [key: Uint8Array, value: Value]> = []) {
    for (const [key, value] of entries) this.set(key, value)
  }

  get size(): number {
    return this.#values.size
  }

  get(key: Uint8Array): Value | undefined {
    return this.#values.get(textOf(key))
  }

  has(key: Uint8Array): boolean {
    return this.#values.has(textOf(key))
  }

  set(key: Uint8Array, value: Value): this {
    this.#values.set(textOf(key), value)
    return this
  }

  delete(key: Uint8Array): boolean {
    return this.#values.delete(textOf(key))
  }

  clear(): void {
    this.#values.clear()
  }

  *keys(): IterableIterator<Uint8Array> {
    for (const text of this.#values.keys()) yield bytesOf(text)
  }

  values(): IterableIterator<Value> {
    return this.#values.values()
  }

  *[Symbol.iterator](): IterableIterator<readonly [key: Uint8Array, value: Value]> {
    for (const [text, value] of this.#values) yield [bytesOf(text), value]
  }
}

/** A set of byte strings by content, in the order of insertion. It keeps copies of them. */
export class BytesSet {
  readonly #texts = new Set<string>()

  constructor(members: Iterable<Uint8Array> = []) {
    for (const member of members) this.add(member)
  }

  get size(): number {
    return this.#texts.size
  }

  has(bytes: Uint8Array): boolean {
    return this.#texts.has(textOf(bytes))
  }

  add(bytes: Uint8Array): this {
    this.#texts.add(textOf(bytes))
    return this
  }

  delete(bytes: Uint8Array): boolean {
    return this.#texts.delete(textOf(bytes))
  }

  *[Symbol.iterator](): IterableIterator<Uint8Array> {
    for (const text of this.#texts) yield bytesOf(text)
  }
}
