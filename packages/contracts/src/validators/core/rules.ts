import type { PType, Term } from '@harmoniclabs/plu-ts'
import { equalsInteger, fail, integer, unitValue } from './builtins.js'
import { either } from './data.js'
import { type Bool, choose, type Int, traced, type Unit } from './term.js'

/** Conditions, keyed by the name of the rule that each enforces, in the order of evaluation. */
export type Rules = { readonly [name: string]: Bool }

/** Collects the rules of a validator while its term is built. */
export interface RuleBook {
  enforce(rules: Rules): Unit
  /** The term if every condition holds; fails otherwise. */
  guard<T extends PType>(rules: Rules, term: Term<T>): Term<T>
  readonly names: ReadonlySet<string>
}

export const createRuleBook = (): RuleBook => ruleBook(new Set(), (_name, _place, condition) => condition)

/**
 * A rule book for tests. The script traces each rule's name before its condition, so that the last trace of a
 * failed run is the rule that refused; it skips the rule at the place `skipped` in the order of {@link
 * RuleBook.names} (−1 for none), so that one compilation serves the mutants of every rule.
 */
export const createInstrumentedRuleBook = (skipped: Int, names: Set<string>): RuleBook =>
  ruleBook(names, (name, place, condition) =>
    either(equalsInteger(skipped, integer(place)), traced(name, condition)),
  )

function ruleBook(
  names: Set<string>,
  enforced: (name: string, place: number, condition: Bool) => Bool,
): RuleBook {
  const guard = <T extends PType>(rules: Rules, term: Term<T>): Term<T> => {
    for (const name of Object.keys(rules)) names.add(name)
    const places = [...names]
    return Object.entries(rules).reduceRight(
      (rest, [name, condition]) => choose(enforced(name, places.indexOf(name), condition), rest, fail<T>()),
      term,
    )
  }
  return { names, guard, enforce: (rules) => guard(rules, unitValue()) }
}
