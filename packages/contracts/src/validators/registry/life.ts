import { equalsData, headList, integer, nullList, tailList, unBData } from '../core/builtins.js'
import { datumOf, oneToken, outputsOf, policyOf, scriptCredential, signatoriesOf } from '../core/context.js'
import { both, constr, includes, none } from '../core/data.js'
import { outputRules } from '../core/output-rules.js'
import type { RuleBook } from '../core/rules.js'
import { keep, naming, type Unit } from '../core/term.js'
import { emptyRegistry, type MintStep } from './registry.js'

/** Begins a registry: mints its token and pays it to the script's own address, without staking part, as output 0. */
export const init = (book: RuleBook, { transaction, policy, minted, spent, parameters }: MintStep): Unit =>
  naming(function* () {
    const token = yield* keep(oneToken(policy, unBData(parameters.tokenName), integer(1)))
    return book.enforce({
      'registry-init-signed': includes(signatoriesOf(transaction), parameters.administrator),
      'registry-init-mints-its-token': equalsData(minted, token),
      'registry-init-spends-nothing': nullList(spent),
      ...outputRules('registry-init', headList(outputsOf(transaction)), {
        address: constr(0, scriptCredential(policy), none()),
        tokens: token,
        datum: emptyRegistry(),
      }),
    })
  })

/** Ends a registry that holds nobody's bond. */
export const deinit = (book: RuleBook, { transaction, policy, minted, spent, parameters }: MintStep): Unit =>
  book.enforce({
    'registry-deinit-signed': includes(signatoriesOf(transaction), parameters.administrator),
    'registry-deinit-burns-its-token': equalsData(
      minted,
      oneToken(policy, unBData(parameters.tokenName), integer(-1)),
    ),
    'registry-deinit-spends-one': nullList(tailList(spent)),
    'registry-deinit-empty': both(
      equalsData(policyOf(headList(spent)), policy),
      equalsData(datumOf(headList(spent)), emptyRegistry()),
    ),
  })
