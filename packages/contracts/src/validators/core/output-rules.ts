import { equalsData, lessThanEqualsInteger } from './builtins.js'
import { addressOf, datumFieldOf, inlineDatum, lovelaceOf, scriptFieldOf, tokensOf } from './context.js'
import { none } from './data.js'
import type { Rules } from './rules.js'
import type { Data, Int } from './term.js'

interface ExpectedOutput {
  readonly address: Data
  /** Every asset but ada. */
  readonly tokens: Data
  readonly datum: Data
}

/** The rules that pin an output down, named `<name>-address` and so on. */
export const outputRules = (name: string, output: Data, expected: ExpectedOutput): Rules => ({
  [`${name}-address`]: equalsData(addressOf(output), expected.address),
  [`${name}-tokens`]: equalsData(tokensOf(output), expected.tokens),
  [`${name}-datum`]: equalsData(datumFieldOf(output), inlineDatum(expected.datum)),
  [`${name}-no-script`]: equalsData(scriptFieldOf(output), none()),
})

/**
 * The rules of a continuing output: a spent one paid back with a new datum. It holds at least `leastAda`, by
 * default the lovelace of the spent one: more is allowed, because a longer datum needs more.
 */
export const continuingOutputRules = (
  name: string,
  output: Data,
  spent: Data,
  datum: Data,
  leastAda: Int = lovelaceOf(spent),
): Rules => ({
  ...outputRules(name, output, { address: addressOf(spent), tokens: tokensOf(spent), datum }),
  [`${name}-ada`]: lessThanEqualsInteger(leastAda, lovelaceOf(output)),
})
