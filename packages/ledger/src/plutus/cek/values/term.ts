import type { Constant } from './constant.js'

export const TermKind = {
  variable: 0,
  delay: 1,
  lambda: 2,
  apply: 3,
  constant: 4,
  force: 5,
  error: 6,
  builtin: 7,
  constr: 8,
  case: 9,
} as const

/**
 * A term of Untyped Plutus Core. One class serves all kinds, so that the machine sees objects of one shape:
 *
 * | kind | `index` | `first` | `second` | `terms` | `constant` |
 * | - | - | - | - | - | - |
 * | variable | de Bruijn index, from 1 | | | | |
 * | delay, lambda, force | | body | | | |
 * | apply | | function | argument | | |
 * | constant | | | | | the constant |
 * | builtin | number in flat | | | | |
 * | constr | tag | | | fields | |
 * | case | | scrutinee | | branches | |
 */
export class Term {
  constructor(
    readonly kind: number,
    readonly index: number,
    readonly first: Term | null,
    readonly second: Term | null,
    readonly terms: readonly Term[],
    readonly constant: Constant | null,
  ) {}
}

const none: readonly Term[] = []

export function variable(index: number): Term {
  return new Term(TermKind.variable, index, null, null, none, null)
}

export function unary(kind: number, body: Term): Term {
  return new Term(kind, 0, body, null, none, null)
}

export function apply(fn: Term, argument: Term): Term {
  return new Term(TermKind.apply, 0, fn, argument, none, null)
}

export function constant(value: Constant): Term {
  return new Term(TermKind.constant, 0, null, null, none, value)
}

export function builtin(index: number): Term {
  return new Term(TermKind.builtin, index, null, null, none, null)
}

export function constr(tag: number, fields: readonly Term[]): Term {
  return new Term(TermKind.constr, tag, null, null, fields, null)
}

export function caseOf(scrutinee: Term, branches: readonly Term[]): Term {
  return new Term(TermKind.case, 0, scrutinee, null, branches, null)
}

export const error = new Term(TermKind.error, 0, null, null, none, null)
