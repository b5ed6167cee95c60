import { type BuiltinName, builtinNames } from './builtin-names.js'
import type { BuiltinFunction, Semantics } from './builtins/builtin.js'
import { bits, byteStrings } from './builtins/byte-strings.js'
import { coins } from './builtins/coins.js'
import { curves, hashes, signatures } from './builtins/cryptography.js'
import { collections, dataBuiltins, integers, text } from './builtins/values.js'
import type { CostTable } from './costs/cost-table.js'
import { fail } from './failures.js'
import type { Meter } from './meter.js'
import { Constant, type Content, ValueKind } from './values/constant.js'
import { TypeTag } from './values/constant-type.js'
import type { Pair } from './values/data.js'
import type { LinkedList } from './values/list.js'
import { type Term, TermKind } from './values/term.js'
import { Builtin, CekEnvironment, Constructed, Delayed, Lambda, type Value } from './values/value.js'

/** The continuation frames: what the machine does with the next value. */
const FrameKind = {
  /** The value is a function: evaluate its argument. */
  argument: 0,
  /** The value is the argument of a function. */
  function: 1,
  /** The value is a function whose argument is evaluated. */
  applied: 2,
  force: 3,
  /** The value is a field of a `constr`. */
  field: 4,
  /** The value selects the branch of a `case`. */
  branch: 5,
} as const

class Frame {
  constructor(
    readonly kind: number,
    readonly term: Term | null,
    readonly environment: CekEnvironment | null,
    readonly value: Value | null,
    readonly fields: readonly Value[] | null,
    readonly below: Frame | null,
  ) {}
}

const noValues: readonly Value[] = []

interface MachineOptions {
  readonly costs: CostTable
  readonly meter: Meter
  readonly semantics: Semantics
  /** Whether `case` accepts constants, as it does since ledger version 11. */
  readonly casesOnConstants: boolean
}

/**
 * The CEK machine, with an explicit stack: no evaluation overflows that of JavaScript. Every step and builtin
 * is charged before it runs. Throws EvaluationFailure, or BudgetSpent above the budget.
 */
export function evaluate(program: Term, options: MachineOptions): Value {
  const { costs, meter, semantics, casesOnConstants } = options
  const { charges } = costs
  const stepCosts = stepCostsByKind(costs)
  let term = program
  let environment: CekEnvironment | null = null
  let frame: Frame | null = null
  let value: Value

  meter.spend(costs.machine.startup.steps, costs.machine.startup.memory)
  for (;;) {
    // Reduces a term to a value and pushes frames for its parts.
    down: for (;;) {
      const { kind } = term
      const cost = stepCosts[kind] as { readonly steps: number; readonly memory: number }
      meter.steps -= cost.steps
      meter.memory -= cost.memory
      if (meter.steps < 0 || meter.memory < 0) meter.refill()
      switch (kind) {
        case TermKind.variable:
          value = lookUp(environment, term.index)
          break down
        case TermKind.lambda:
          value = new Lambda(term.first as Term, environment)
          break down
        case TermKind.apply:
          frame = new Frame(FrameKind.argument, term.second, environment, null, null, frame)
          term = term.first as Term
          continue
        case TermKind.constant:
          value = term.constant as Constant
          break down
        case TermKind.delay:
          value = new Delayed(term.first as Term, environment)
          break down
        case TermKind.force:
          frame = new Frame(FrameKind.force, null, null, null, null, frame)
          term = term.first as Term
          continue
        case TermKind.builtin: {
          const { index } = term
          value = new Builtin(index, builtins[index]?.forces ?? fail('An unknown builtin'), noValues)
          break down
        }
        case TermKind.constr: {
          const first = term.terms[0]
          if (first === undefined) {
            value = new Constructed(term.index, noValues)
            break down
          }
          frame = new Frame(FrameKind.field, term, environment, null, noValues, frame)
          term = first
          continue
        }
        case TermKind.case:
          frame = new Frame(FrameKind.branch, term, environment, null, null, frame)
          term = term.first as Term
          continue
        default:
          return fail('The script evaluated an error')
      }
    }
    // Returns the value to the frame on top of the stack, which yields the next term.
    up: for (;;) {
      if (frame === null) return value
      const top: Frame = frame
      frame = top.below
      let callee: Value
      let argument: Value
      switch (top.kind) {
        case FrameKind.argument:
          frame = new Frame(FrameKind.function, null, null, value, null, frame)
          term = top.term as Term
          environment = top.environment
          break up
        case FrameKind.function:
          callee = top.value as Value
          argument = value
          break
        case FrameKind.applied:
          callee = value
          argument = top.value as Value
          break
        case FrameKind.force:
          if (value.kind === ValueKind.delayed) {
            term = value.body
            environment = value.environment
            break up
          }
          if (value.kind !== ValueKind.builtin || value.forces === 0) {
            return fail('A value that is not delayed was forced')
          }
          value = new Builtin(value.index, value.forces - 1, value.args)
          continue
        case FrameKind.field: {
          const { terms, index } = top.term as Term
          const fields: readonly Value[] = [...(top.fields ?? noValues), value]
          const next = terms[fields.length]
          if (next === undefined) {
            value = new Constructed(index, fields)
            continue
          }
          frame = new Frame(FrameKind.field, top.term, top.environment, null, fields, frame)
          term = next
          environment = top.environment
          break up
        }
        default: {
          const { terms } = top.term as Term
          if (value.kind === ValueKind.constructed) {
            term = terms[value.tag] ?? fail('A case has no branch for this constructor')
            frame = applyTo(value.fields, frame)
          } else if (value.kind === ValueKind.constant && casesOnConstants) {
            const [at, fields] = branchOf(value, terms.length)
            term = terms[at] ?? fail('A case has no branch for this constant')
            frame = applyTo(fields, frame)
          } else {
            return fail('A case cannot match this kind of value')
          }
          environment = top.environment
          break up
        }
      }
      if (callee.kind === ValueKind.lambda) {
        term = callee.body
        environment = new CekEnvironment(argument, callee.environment)
        break
      }
      if (callee.kind !== ValueKind.builtin || callee.forces > 0) {
        return fail('A value that is not a function was applied')
      }
      const args: readonly Value[] = callee.args.length === 0 ? [argument] : [...callee.args, argument]
      const fn = builtins[callee.index] ?? fail('An unknown builtin')
      if (args.length < fn.arity) {
        value = new Builtin(callee.index, 0, args)
      } else {
        charges[callee.index]?.(args, meter)
        value = fn.run(args, semantics)
      }
    }
  }
}

function stepCostsByKind({ machine }: CostTable): readonly { steps: number; memory: number }[] {
  const free = { steps: 0, memory: 0 }
  const { var: variable, delay, lam, apply, const: constant, force, builtin, constr, case: caseOf } = machine
  return [variable, delay, lam, apply, constant, force, free, builtin, constr, caseOf]
}

function lookUp(environment: CekEnvironment | null, index: number): Value {
  let at = environment
  for (let left = index; left > 1 && at !== null; left--) at = at.outer
  return at === null || index < 1 ? fail('The script has a free variable') : at.value
}

/** Pushes the fields of the scrutinee as arguments of the branch, the first one on top. */
function applyTo(fields: readonly Value[], below: Frame | null): Frame | null {
  let frame = below
  for (let i = fields.length - 1; i >= 0; i--) {
    frame = new Frame(FrameKind.applied, null, null, fields[i] as Value, null, frame)
  }
  return frame
}

/** The branch that a constant selects, and the arguments for it. */
function branchOf({ type, content }: Constant, count: number): readonly [number, readonly Value[]] {
  switch (type.tag) {
    case TypeTag.unit:
      if (count !== 1) break
      return [0, noValues]
    case TypeTag.bool:
      if (count > 2) break
      return [content === true ? 1 : 0, noValues]
    case TypeTag.integer: {
      const at = content as bigint
      if (at < 0n || at >= BigInt(count)) break
      return [Number(at), noValues]
    }
    case TypeTag.list: {
      const list = content as LinkedList<Content>
      if (count !== 1 && count !== 2) break
      if (list === null) return [1, noValues]
      return [0, [new Constant(type.first ?? type, list.head), new Constant(type, list.tail)]]
    }
    case TypeTag.pair: {
      if (count !== 1) break
      const { first, second } = content as Pair<Content, Content>
      return [0, [new Constant(type.first ?? type, first), new Constant(type.second ?? type, second)]]
    }
  }
  return fail('A case has no branch for this constant')
}

const byName: { readonly [name in BuiltinName]: BuiltinFunction } = {
  ...integers,
  ...byteStrings,
  ...bits,
  ...text,
  ...hashes,
  ...signatures,
  ...collections,
  ...dataBuiltins,
  ...curves,
  ...coins,
}

export const builtins: readonly BuiltinFunction[] = builtinNames.map((name) => byName[name])
