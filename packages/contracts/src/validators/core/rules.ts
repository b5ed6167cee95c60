import { fail, unitValue } from './builtins.js'
import { type Bool, choose, type Unit } from './term.js'

/** Conditions by the names of the rules that they enforce; in the order in which they are looked at. */
export type Rules = { readonly [name: string]: Bool }

/** Collects the conditions of a validator while it is being built. */
export interface RuleBook {
  /** Succeeds if all conditions hold, fails otherwise. */
  enforce(rules: Rules): Unit
  /** The names of all rules enforced so far. */
  readonly names: ReadonlySet<string>
}

/** @param without the name of a rule to leave out, which only the check of the tests does */
export function createRuleBook(without?: string): RuleBook {
  const names = new Set<string>()
  return {
    names,
    enforce(rules) {
      for (const name of Object.keys(rules)) names.add(name)
      return Object.entries(rules)
        .filter(([name]) => name !== without)
        .reduceRight((rest: Unit, [, condition]) => choose(condition, rest, fail()), unitValue())
    },
  }
}
