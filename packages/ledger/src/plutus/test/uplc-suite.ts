import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { CborWriter } from '@ratatosk/cbor'
import type { ProtocolParameters } from '../../parameters/types.js'
import type { EvaluationResult, Evaluator, ExecutionUnits } from '../../rules/script-evaluator.js'
import { endOf, flatProgram, type Term } from './flat.js'
import { evaluateMint } from './programs.js'

/** A case of plutus-conformance: a program, its result and its cost. */
export interface UplcCase {
  /** Folder of the case, relative to the suite. */
  readonly name: string
  /** The text of the program, searched for names; it is never parsed. */
  readonly source: string
  /** Absent if the case is only about the textual parser. */
  readonly flat?: Uint8Array
  readonly expected:
    | { readonly kind: 'unreadable' }
    | { readonly kind: 'failure' }
    | { readonly kind: 'success'; readonly constant?: ExpectedConstant; readonly budget?: ExecutionUnits }
}

/** The part that was compared: a script can compare constants, but not functions. */
type Compared = 'value' | 'success' | 'failure' | 'unreadable'

export interface UplcOutcome {
  readonly name: string
  readonly compared: Compared
  readonly right: boolean
  /** Absent if the suite has no budget or the result is wrong. */
  readonly exact?: boolean
  readonly message: string
}

export function readUplcCases(folder: string): UplcCase[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.uplc'))
    .sort()
    .map((path) => readCase(folder, join(folder, path.slice(0, -'.uplc'.length))))
}

function readCase(folder: string, stem: string): UplcCase {
  const flat = readOptional(`${stem}.flat`)
  const text = readFileSync(`${stem}.uplc.expected`, 'utf8').trim()
  const budget = readOptional(`${stem}.budget.expected`)?.toString('utf8')
  return {
    name: relative(folder, join(stem, '..')),
    source: readFileSync(`${stem}.uplc`, 'utf8'),
    ...(flat === undefined ? {} : { flat }),
    expected: expectation(text, budget),
  }
}

function readOptional(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

function expectation(text: string, budgetText: string | undefined): UplcCase['expected'] {
  if (text.startsWith('parse')) return { kind: 'unreadable' }
  if (text.startsWith('evaluation failure')) return { kind: 'failure' }
  const constant = expectedConstant(text)
  const figures = /cpu:\s*(\d+)[\s|]*mem:\s*(\d+)/.exec(budgetText ?? '')
  const budget =
    figures?.[1] === undefined || figures[2] === undefined
      ? undefined
      : { steps: BigInt(figures[1]), memory: BigInt(figures[2]) }
  return {
    kind: 'success',
    ...(constant === undefined ? {} : { constant }),
    ...(budget === undefined ? {} : { budget }),
  }
}

/** Counters are saturating 64-bit integers. */
const maxUnits = 2n ** 63n - 1n
const declared: ExecutionUnits = { memory: maxUnits, steps: maxUnits }

/** The cost of `(con unit ())`: the start and one step of the machine. */
const unitCost: ExecutionUnits = { memory: 200n, steps: 16_100n }

export type UplcRunner = (subject: UplcCase & { readonly flat: Uint8Array }) => Promise<UplcOutcome>

/**
 * Runs cases through an evaluator, each as a transaction's Plutus V3 policy: once for its budget, minus the
 * cost of the policy around it, and again to compare a constant result.
 */
export async function createUplcRunner(
  evaluator: Evaluator,
  parameters: ProtocolParameters,
): Promise<UplcRunner> {
  const run = (flat: Uint8Array) => evaluateMint(evaluator, { flat, declared }, parameters)

  const empty = used(await run(asScript(flatProgram(['con', { type: 'unit' }]), succeed)))
  if (empty === undefined) throw new Error('The empty program does not succeed')
  const own = { memory: empty.memory - unitCost.memory, steps: empty.steps - unitCost.steps }

  return async ({ name, flat, expected }) => {
    const result = await run(asScript(flat, succeed))
    const { failure } = result
    const message = failure === undefined ? '' : `${failure.kind}: ${failure.message}`
    if (expected.kind === 'unreadable') {
      return { name, compared: expected.kind, right: failure?.kind === 'MalformedScript', message }
    }
    if (expected.kind === 'failure') {
      const validated = failure?.kind === 'ScriptFailure' || failure?.kind === 'BudgetExceeded'
      return { name, compared: expected.kind, right: validated, message: message || 'The program succeeds' }
    }
    const compared = expected.constant === undefined ? 'success' : 'value'
    const units = used(result)
    if (units === undefined) return { name, compared, right: false, message }
    if (expected.constant !== undefined) {
      const equal = await run(asScript(flat, succeedIfEqual(expected.constant)))
      if (!equal.ok)
        return { name, compared, right: false, message: 'The program evaluates to another constant' }
    }
    if (expected.budget === undefined) return { name, compared, right: true, message: '' }
    const spent = { memory: withoutOwn(units.memory, own.memory), steps: withoutOwn(units.steps, own.steps) }
    const exact = spent.memory === expected.budget.memory && spent.steps === expected.budget.steps
    return {
      name,
      compared,
      right: true,
      exact,
      message: exact ? '' : `${describe(spent)} instead of ${describe(expected.budget)}`,
    }
  }
}

function used({ redeemers: [redeemer] }: EvaluationResult): ExecutionUnits | undefined {
  return redeemer?.outcome.kind === 'Succeeded' ? redeemer.outcome.used : undefined
}

function withoutOwn(units: bigint, own: bigint): bigint {
  return units === maxUnits ? maxUnits : units - own
}

function describe({ memory, steps }: ExecutionUnits): string {
  return `${memory} memory units and ${steps} steps`
}

const unit: Term = ['con', { type: 'unit' }]
const yes: Term = ['con', { type: 'bool', value: true }]
const no: Term = ['con', { type: 'bool', value: false }]

/**
 * Wraps a program into a Plutus V3 script, which gets a context and must return unit. The program is
 * evaluated first; `then` decides on its result, the variable `result`.
 */
export function asScript(flat: Uint8Array, then: Term): Uint8Array {
  const { version, rest } = splitProgram(flat)
  const program: Term = ['rest', rest]
  for (let fillers = 0; fillers < 8; fillers++) {
    const decide: Term = ['lam', 'result', ['lam', 'context', filled(then, fillers)]]
    // The program keeps its alignment only if it begins at a byte boundary after the four bits of `apply`.
    if (endOf(decide, 4) % 8 === 0) return flatProgram(['apply', decide, [program]], version)
  }
  throw new RangeError('No filler brings the program to a byte')
}

/** The term after unused arguments, each of an odd number of bits. */
function filled(term: Term, fillers: number): Term {
  let inner = term
  for (let i = 0; i < fillers; i++) inner = ['lam', 'filler', inner]
  return fillers === 0 ? inner : ['apply', inner, Array.from({ length: fillers }, () => yes)]
}

function splitProgram(flat: Uint8Array): { version: [number, number, number]; rest: Uint8Array } {
  const version: [number, number, number] = [0, 0, 0]
  let offset = 0
  for (let i = 0; i < 3; i++) {
    for (let shift = 0; ; shift += 7) {
      const byte = flat[offset++] ?? 0
      version[i] = (version[i] as number) + (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) break
    }
  }
  return { version, rest: flat.subarray(offset) }
}

/** Succeeds with any result. */
export const succeed: Term = unit

function succeedIfEqual(expected: ExpectedConstant): Term {
  return ['force', ifThenElse(equals(expected, 'result'), ['delay', unit], ['delay', ['error']])]
}

function equals(expected: ExpectedConstant, term: Term): Term {
  switch (expected.type) {
    case 'integer':
      return ['apply', ['builtin', 'equalsInteger'], [['con', expected], term]]
    case 'bytestring':
      return ['apply', ['builtin', 'equalsByteString'], [['con', expected], term]]
    case 'string':
      return ['apply', ['builtin', 'equalsString'], [['con', expected], term]]
    case 'data':
      return ['apply', ['builtin', 'equalsData'], [['con', expected], term]]
    case 'unit':
      return ['apply', ['force', ['builtin', 'chooseUnit']], [term, yes]]
    case 'bool':
      return expected.value ? ifThenElse(term, yes, no) : ifThenElse(term, no, yes)
    case 'list':
      return equalsList(expected.items, term)
    case 'pair': {
      const first: Term = ['apply', ['force', ['force', ['builtin', 'fstPair']]], ['pair']]
      const second: Term = ['apply', ['force', ['force', ['builtin', 'sndPair']]], ['pair']]
      return [
        'apply',
        ['lam', 'pair', and(equals(expected.first, first), equals(expected.second, second))],
        [term],
      ]
    }
  }
}

function equalsList([first, ...others]: readonly ExpectedConstant[], term: Term): Term {
  if (first === undefined) return ['apply', ['force', ['builtin', 'nullList']], [term]]
  const head: Term = ['apply', ['force', ['builtin', 'headList']], ['list']]
  const tail: Term = ['apply', ['force', ['builtin', 'tailList']], ['list']]
  return ['apply', ['lam', 'list', and(equals(first, head), equalsList(others, tail))], [term]]
}

function and(left: Term, right: Term): Term {
  return ['force', ifThenElse(left, ['delay', right], ['delay', no])]
}

function ifThenElse(condition: Term, yes: Term, no: Term): Term {
  return ['apply', ['force', ['builtin', 'ifThenElse']], [condition, yes, no]]
}

/** The constants that a conformance case may expect, parsed from its result's text. */
type ExpectedConstant =
  | { readonly type: 'integer'; readonly value: bigint }
  | { readonly type: 'bytestring' | 'data'; readonly value: Uint8Array }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'unit' }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'list'; readonly items: readonly ExpectedConstant[] }
  | { readonly type: 'pair'; readonly first: ExpectedConstant; readonly second: ExpectedConstant }

/** The constant that is a whole program; undefined for other programs and other types. */
function expectedConstant(program: string): ExpectedConstant | undefined {
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
