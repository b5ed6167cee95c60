import type { PType, Term } from '@harmoniclabs/plu-ts'
import { addressOf, datumFieldOf, inlineDatum, lovelaceOf, scriptFieldOf, tokensOf } from './context.js'
import { either, none } from './data.js'
import * as p from './term.js'

/** Conditions, keyed by the name of the rule that each enforces, in the order of evaluation. */
export type Rules = { readonly [name: string]: p.Bool }

/** Collects the rules of a validator while its term is built. */
export interface RuleBook {
  enforce(rules: Rules): p.Unit
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
export const createInstrumentedRuleBook = (skipped: p.Int, names: Set<string>): RuleBook =>
  ruleBook(names, (name, place, condition) =>
    either(p.equalsInteger(skipped, p.integer(place)), p.traced(name, condition)),
  )

function ruleBook(
  names: Set<string>,
  enforced: (name: string, place: number, condition: p.Bool) => p.Bool,
): RuleBook {
  const guard = <T extends PType>(rules: Rules, term: Term<T>): Term<T> => {
    for (const name of Object.keys(rules)) names.add(name)
    const places = [...names]
    return Object.entries(rules).reduceRight(
      (rest, [name, condition]) =>
        p.choose(enforced(name, places.indexOf(name), condition), rest, p.fail<T>()),
      term,
    )
  }
  return { names, guard, enforce: (rules) => guard(rules, p.unitValue()) }
}

interface ExpectedOutput {
  readonly address: p.Data
  /** Every asset but ada. */
  readonly tokens: p.Data
  readonly datum: p.Data
}

/** The rules that pin an output down, named `<name>-address` and so on. */
export const outputRules = (name: string, output: p.Data, expected: ExpectedOutput): Rules => ({
  [`${name}-address`]: p.equalsData(addressOf(output), expected.address),
  [`${name}-tokens`]: p.equalsData(tokensOf(output), expected.tokens),
  [`${name}-datum`]: p.equalsData(datumFieldOf(output), inlineDatum(expected.datum)),
  [`${name}-no-script`]: p.equalsData(scriptFieldOf(output), none()),
})

/**
 * The rules of a continuing output: a spent one paid back with a new datum. It holds at least `leastAda`, by
 * default the lovelace of the spent one: more is allowed, because a longer datum needs more.
 */
export const continuingOutputRules = (
  name: string,
  output: p.Data,
  spent: p.Data,
  datum: p.Data,
  leastAda: p.Int = lovelaceOf(spent),
): Rules => ({
  ...outputRules(name, output, { address: addressOf(spent), tokens: tokensOf(spent), datum }),
  [`${name}-ada`]: p.lessThanEqualsInteger(leastAda, lovelaceOf(output)),
})
