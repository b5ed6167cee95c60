import { CborWriter } from '@ratatosk/cbor'

/** The constants that a conformance case may expect, parsed from its result's text. */
export type ExpectedConstant =
  | { readonly type: 'integer'; readonly value: bigint }
  | { readonly type: 'bytestring' | 'data'; readonly value: Uint8Array }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'unit' }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'list'; readonly items: readonly ExpectedConstant[] }
  | { readonly type: 'pair'; readonly first: ExpectedConstant; readonly second: ExpectedConstant }

/** The constant that is a whole program; undefined for other programs and other types. */
export function expectedConstant(program: string): ExpectedConstant | undefined {
  const tokens = tokenize(program)
  for (const expected of ['(', 'program', undefined, '(', 'con']) {
    const token = tokens.next()
    if (expected !== undefined && token !== expected) return undefined
  }
  const type = readType(tokens)
  return type === undefined ? undefined : readValue(tokens, type)
}

type Type = string | readonly ['list', Type] | readonly ['pair', Type, Type]

interface Tokens {
  peek(): string | undefined
  next(): string
}

function tokenize(text: string): Tokens {
  const found = text.replace(/--[^\n]*/g, '').match(/"(?:[^"\\]|\\.)*"|[()[\],]|[^\s()[\],"]+/g) ?? []
  let place = 0
  return { peek: () => found[place], next: () => found[place++] ?? '' }
}

function readType(tokens: Tokens): Type | undefined {
  if (tokens.peek() !== '(') {
    const name = tokens.next()
    return ['integer', 'bytestring', 'data', 'string', 'unit', 'bool'].includes(name) ? name : undefined
  }
  tokens.next()
  const kind = tokens.next()
  const first = readType(tokens)
  if (first === undefined) return undefined
  if (kind === 'list') {
    tokens.next()
    return ['list', first]
  }
  const second = kind === 'pair' ? readType(tokens) : undefined
  tokens.next()
  return second === undefined ? undefined : ['pair', first, second]
}

function readValue(tokens: Tokens, type: Type): ExpectedConstant {
  if (typeof type !== 'string') {
    const [kind, first] = type
    if (kind === 'list') return { type: 'list', items: readItems(tokens, () => readValue(tokens, first)) }
    tokens.next()
    const left = readValue(tokens, first)
    tokens.next()
    const right = readValue(tokens, type[2])
    tokens.next()
    return { type: 'pair', first: left, second: right }
  }
  switch (type) {
    case 'integer':
      return { type, value: BigInt(tokens.next()) }
    case 'bytestring':
      return { type, value: hex(tokens.next()) }
    case 'string':
      return { type, value: unquote(tokens.next()) }
    case 'bool':
      return { type, value: tokens.next() === 'True' }
    case 'data': {
      const inParentheses = tokens.peek() === '('
      if (inParentheses) tokens.next()
      const writer = new CborWriter()
      writeData(tokens, writer)
      return { type, value: writer.toBytes() }
    }
    default:
      return { type: 'unit' }
  }
}

/** `[a, b, …]` */
function readItems<Item>(tokens: Tokens, read: () => Item): Item[] {
  const items: Item[] = []
  tokens.next()
  while (tokens.peek() !== ']') {
    items.push(read())
    if (tokens.peek() === ',') tokens.next()
  }
  tokens.next()
  return items
}

function writeData(tokens: Tokens, writer: CborWriter): void {
  const kind = tokens.next()
  if (kind === 'I') writer.int(BigInt(tokens.next()))
  else if (kind === 'B') writer.boundedBytes(hex(tokens.next()))
  else if (kind === 'List') writeList(tokens, writer)
  else if (kind === 'Map') {
    const entries = readItems(tokens, () => {
      const entry = new CborWriter()
      tokens.next()
      writeData(tokens, entry)
      tokens.next()
      writeData(tokens, entry)
      tokens.next()
      return entry.toBytes()
    })
    writer.map(entries.length)
    for (const entry of entries) writer.raw(entry)
  } else if (kind === 'Constr') {
    writeConstructor(tokens, writer)
  } else throw new SyntaxError(`No data: ${kind}`)
}

function writeConstructor(tokens: Tokens, writer: CborWriter): void {
  const tag = BigInt(tokens.next())
  if (tag < 7n) writer.tag(121 + Number(tag))
  else if (tag < 128n) writer.tag(1280 + Number(tag) - 7)
  else writer.tag(102).array(2).uint(tag)
  writeList(tokens, writer)
}

function writeList(tokens: Tokens, writer: CborWriter): void {
  const items = readItems(tokens, () => {
    const item = new CborWriter()
    writeData(tokens, item)
    return item.toBytes()
  })
  writer.array(items.length)
  for (const item of items) writer.raw(item)
}

function hex(token: string): Uint8Array {
  return Uint8Array.from(Buffer.from(token.replace(/^#/, ''), 'hex'))
}

const escapes: { readonly [letter: string]: string } = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** The suite's strings are Haskell's: `\n`, `\1234`, `\x41`, `\o101`, `\DEL`. */
function unquote(token: string): string {
  return token
    .slice(1, -1)
    .replace(/\\(?:(\d+)|x([0-9a-fA-F]+)|o([0-7]+)|DEL|(.))/g, (_, decimal, hexadecimal, octal, letter) => {
      if (decimal !== undefined) return String.fromCodePoint(Number(decimal))
      if (hexadecimal !== undefined) return String.fromCodePoint(Number.parseInt(hexadecimal, 16))
      if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8))
      if (letter === undefined) return '\x7f'
      return escapes[letter] ?? letter
    })
}
