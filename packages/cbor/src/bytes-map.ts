/** Characters made by one call of `String.fromCharCode`; engines limit the number of arguments. */
const chunkLength = 4096

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
