import { equalsData, lessThanEqualsInteger } from './builtins.js'
import { addressOf, datumFieldOf, inlineDatum, lovelaceOf, scriptFieldOf, tokensOf } from './context.js'
import { none } from './data.js'
import type { Rules } from './rules.js'
import type { Data, Int } from './term.js'

/** What an output must be that holds one of the protocol's tokens, or a refund. */
export interface ExpectedOutput {
  readonly address: Data
  /** All but the ada. */
  readonly tokens: Data
  readonly datum: Data
}

/** The rules on such an output, by names that begin alike. */
export const outputRules = (name: string, output: Data, expected: ExpectedOutput): Rules => ({
  [`${name}-address`]: equalsData(addressOf(output), expected.address),
  [`${name}-tokens`]: equalsData(tokensOf(output), expected.tokens),
  [`${name}-datum`]: equalsData(datumFieldOf(output), inlineDatum(expected.datum)),
  [`${name}-no-script`]: equalsData(scriptFieldOf(output), none()),
})

/**
 * The same for an output that carries on a spent one, with another datum.
 *
 * @param leastAda lovelace that it must hold; what the spent one held, where it is not given. More is welcome
 */
export const carriedRules = (
  name: string,
  output: Data,
  spent: Data,
  datum: Data,
  leastAda: Int = lovelaceOf(spent),
): Rules => ({
  ...outputRules(name, output, { address: addressOf(spent), tokens: tokensOf(spent), datum }),
  [`${name}-ada`]: lessThanEqualsInteger(leastAda, lovelaceOf(output)),
})
