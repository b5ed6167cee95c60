import { compileFunction } from 'node:vm'
import {
  Application,
  Builtin,
  ByteString,
  builtinTagToString,
  Case,
  Constr,
  DataB,
  DataConstr,
  DataI,
  DataList,
  Delay,
  ErrorUPLC,
  Force,
  isData,
  Lambda,
  type Data as PluData,
  parseUPLC,
  UPLCConst,
  type UPLCTerm,
  UPLCVar,
} from '@harmoniclabs/plu-ts'
import { CborReader } from '@ratatosk/cbor'
import type { PlutusScript } from '../../scripts.js'
import {
  type BuiltinName,
  BytesData,
  bool,
  builtins,
  Cell,
  ConstrData,
  Constructed,
  type Data,
  Delayed,
  fail,
  IntData,
  intOf,
  type List,
  ListData,
  listOf,
  unit,
} from './builtins.js'

/** The meaning of a variable: a name in JavaScript, or a builtin function, so that its calls are direct. */
type Bound = string | BuiltinName

/**
 * Translates a script to a JavaScript function of its result, without costs, many times as fast as a machine.
 * It throws `Failure` where the script fails, and a RangeError where the stack overflows. Both languages
 * evaluate arguments before a call, so each term has a direct translation.
 */
export function translate({ bytes }: PlutusScript): (argument: unknown) => unknown {
  const { body } = parseUPLC(new CborReader(bytes).readBytes(), 'flat')
  const constants: unknown[] = []
  const source = `'use strict'; return ${expression(body, [], constants)}`
  const made = compileFunction(source, [
    'b',
    'k',
    'bool',
    'fail',
    'force',
    'branchOf',
    'cellOf',
    'Delayed',
    'Constructed',
    'curried',
  ])
  return made(builtins, constants, bool, fail, force, branchOf, cellOf, Delayed, Constructed, curried)
}

function force(value: unknown): unknown {
  return value instanceof Delayed ? value.run() : fail()
}

function curried(name: BuiltinName): unknown {
  const run = builtins[name] as (...args: readonly unknown[]) => unknown
  const take = (taken: readonly unknown[]): unknown =>
    taken.length === run.length ? run(...taken) : (next: unknown) => take([...taken, next])
  return take([])
}

/** The branch of a `case` on a boolean or an integer. */
function branchOf(value: unknown, count: number): number {
  const branch = typeof value === 'boolean' && count === 2 ? Number(value) : value
  return typeof branch === 'number' && branch >= 0 && branch < count ? branch : fail()
}

/** The list of a `case`, which binds its first item and the others. */
const cellOf = (value: unknown): List<unknown> => (value === null || value instanceof Cell ? value : fail())

const nameAt = (depth: number) => `v${depth}`
const isBuiltin = (bound: Bound): bound is BuiltinName => bound in builtins

function builtinIn(term: UPLCTerm, scope: readonly Bound[]): BuiltinName | undefined {
  if (term instanceof Force) return builtinIn(term.termToForce, scope)
  if (term instanceof UPLCVar) {
    const bound = scope.at(-1 - Number(term.deBruijn))
    return bound !== undefined && isBuiltin(bound) ? bound : undefined
  }
  if (!(term instanceof Builtin)) return undefined
  const name = builtinTagToString(term.tag)
  if (!isBuiltin(name)) throw new RangeError(`The builtin ${name} is not translated`)
  return name
}

/** A function and its arguments. plu-ts passes several as a `case` of a `constr` with them as fields. */
function applied(term: UPLCTerm): { callee: UPLCTerm; args: UPLCTerm[] } {
  const args: UPLCTerm[] = []
  let callee = term
  for (;;) {
    if (callee instanceof Application) {
      args.unshift(callee.argTerm)
      callee = callee.funcTerm
      continue
    }
    const branch =
      callee instanceof Case && callee.constrTerm instanceof Constr
        ? callee.continuations[Number(callee.constrTerm.index)]
        : undefined
    if (branch === undefined) return { callee, args }
    args.unshift(...((callee as Case).constrTerm as Constr).terms)
    callee = branch
  }
}

/** The condition and the branches of a term that evaluates one branch. */
function choiceIn(term: UPLCTerm, scope: readonly Bound[]): [UPLCTerm, UPLCTerm, UPLCTerm] | undefined {
  if (!(term instanceof Force)) return undefined
  const { callee, args } = applied(term.termToForce)
  const [condition, yes, no] = args
  if (args.length !== 3 || builtinIn(callee, scope) !== 'ifThenElse') return undefined
  if (!condition || !(yes instanceof Delay) || !(no instanceof Delay)) return undefined
  return [condition, yes.delayedTerm, no.delayedTerm]
}

/** The parts of a `case` on a constant: of a list, if a branch takes its first item and the others. */
function caseIn(
  term: UPLCTerm,
): { scrutinee: UPLCTerm; branches: UPLCTerm[]; isOfList: boolean } | undefined {
  if (!(term instanceof Case) || term.constrTerm instanceof Constr) return undefined
  const branches = Array.from(term.continuations)
  const [first] = branches
  const isOfList = branches.length === 2 && first instanceof Lambda && first.body instanceof Lambda
  return { scrutinee: term.constrTerm, branches, isOfList }
}

/** A term whose value is returned: statements. */
function statements(term: UPLCTerm, scope: readonly Bound[], constants: unknown[]): string {
  const { callee, args } = applied(term)
  if (callee instanceof Lambda && args.length > 0) {
    const inner = [...scope]
    const bindings: string[] = []
    let body: UPLCTerm = callee
    // Arguments are evaluated outside: their variables are those of the scope.
    while (body instanceof Lambda && args.length > 0) {
      const value = args.shift()!
      const own = builtinIn(value, scope) ?? nameAt(inner.length)
      if (!isBuiltin(own)) bindings.push(`const ${own} = ${expression(value, scope, constants)};`)
      inner.push(own)
      body = body.body
    }
    const rest = args.map((each) => `(${expression(each, scope, constants)})`).join('')
    const result = rest
      ? `return ${expression(body, inner, constants)}${rest}`
      : statements(body, inner, constants)
    return `${bindings.join(' ')} ${result}`
  }
  const choice = choiceIn(term, scope)
  if (choice) {
    const [yes, no] = [statements(choice[1], scope, constants), statements(choice[2], scope, constants)]
    return `if (bool(${expression(choice[0], scope, constants)})) { ${yes} } else { ${no} }`
  }
  const selection = caseIn(term)
  if (selection) {
    const { scrutinee, branches, isOfList } = selection
    const value = expression(scrutinee, scope, constants)
    if (isOfList) {
      const [some, none] = branches as [Lambda, UPLCTerm]
      const [first, others] = [nameAt(scope.length), nameAt(scope.length + 1)]
      const body = statements((some.body as Lambda).body, [...scope, first, others], constants)
      const cell = `cell${scope.length}`
      return (
        `const ${cell} = cellOf(${value}); if (${cell} === null) { ${statements(none, scope, constants)} } ` +
        `else { const ${first} = ${cell}.head; const ${others} = ${cell}.tail; ${body} }`
      )
    }
    const cases = branches.map((each, at) => `case ${at}: { ${statements(each, scope, constants)} }`)
    return `switch (branchOf(${value}, ${branches.length})) { ${cases.join(' ')} }`
  }
  return `return ${expression(term, scope, constants)}`
}

function expression(term: UPLCTerm, scope: readonly Bound[], constants: unknown[]): string {
  const inner = (part: UPLCTerm) => expression(part, scope, constants)
  const name = builtinIn(term, scope)
  if (name !== undefined) return `curried('${name}')`
  if (term instanceof UPLCVar) return scope.at(-1 - Number(term.deBruijn)) ?? 'fail()'
  if (term instanceof Lambda) {
    const own = nameAt(scope.length)
    return `((${own}) => { ${statements(term.body, [...scope, own], constants)} })`
  }
  if (term instanceof Delay) return `new Delayed(() => { ${statements(term.delayedTerm, scope, constants)} })`
  if (term instanceof ErrorUPLC) return 'fail()'
  if (term instanceof UPLCConst) return `k[${constants.push(constantOf(term)) - 1}]`
  const choice = choiceIn(term, scope)
  if (choice) return `(bool(${inner(choice[0])}) ? ${inner(choice[1])} : ${inner(choice[2])})`
  if (term instanceof Force) return `force(${inner(term.termToForce)})`
  if (term instanceof Constr) return `new Constructed(${term.index}, [${term.terms.map(inner).join(', ')}])`
  const selection = caseIn(term)
  if (selection?.branches.length === 2 && !selection.isOfList) {
    const [no, yes] = selection.branches as [UPLCTerm, UPLCTerm]
    return `(branchOf(${inner(selection.scrutinee)}, 2) === 1 ? ${inner(yes)} : ${inner(no)})`
  }
  if (selection) return `(() => { ${statements(term, scope, constants)} })()`
  const { callee, args } = applied(term)
  if (args.length === 0) {
    if (callee === term) throw new RangeError(`${term.constructor.name} is not translated`)
    return inner(callee)
  }
  const builtin = builtinIn(callee, scope)
  if (builtin !== undefined && args.length === builtins[builtin].length)
    return `b.${builtin}(${args.map(inner).join(', ')})`
  if (callee instanceof Lambda) return `(() => { ${statements(term, scope, constants)} })()`
  return `${inner(callee)}${args.map((each) => `(${inner(each)})`).join('')}`
}

/** Empty lists have no items to tell their type by. */
function constantOf({ value }: UPLCConst): unknown {
  if (value === undefined) return unit
  if (typeof value === 'bigint' || typeof value === 'number') return intOf(BigInt(value))
  if (value instanceof ByteString) return Uint8Array.from(value.toBuffer())
  if (isData(value)) return dataIn(value)
  if (Array.isArray(value) && value.length === 0) return listOf([])
  if (typeof value === 'boolean' || typeof value === 'string') return value
  throw new RangeError('A constant of this type is not translated')
}

// plu-ts's own encoder cuts byte strings of more than 64 bytes.
function dataIn(data: PluData): Data {
  if (data instanceof DataI) return new IntData(intOf(BigInt(data.int)))
  if (data instanceof DataB) return new BytesData(Uint8Array.from(data.bytes.toBuffer()))
  if (data instanceof DataList) return new ListData(listOf(data.list.map(dataIn)))
  if (data instanceof DataConstr)
    return new ConstrData(intOf(BigInt(data.constr)), listOf(data.fields.map(dataIn)))
  throw new RangeError('Maps in a script are not translated')
}
