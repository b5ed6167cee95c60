import { SummonsAction } from '../../summons-layout.js'
import { equalsData, equalsInteger, headList, integer, unitValue, unMapData } from '../core/builtins.js'
import {
  inputsOf,
  lookUp,
  mintOf,
  Purpose,
  paymentCredentialOf,
  redeemerOf,
  resolvedOf,
  scriptCredential,
  scriptInfoOf,
  transactionOf,
} from '../core/context.js'
import { any, branch, constructorOf, fieldsOf } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import { bind, choose, type Data, type List, scope, type Unit } from '../core/term.js'
import { onlyBurns } from '../fraud/policy.js'
import { ask } from './ask.js'
import { settle } from './settle.js'
import type { SummonsTerms } from './terms.js'

/**
 * The summons: a question about what a header commits to. Anyone who knows the block answers it; if no one
 * does before its deadline, a verdict against the header is minted.
 *
 * It is a minting policy and a validator. `ask` mints a token, named by the question's hash, into an output
 * that holds the question. `answer` and `expire` spend this output and burn the token; `expire` also mints
 * the verdict. The name of a question has 32 bytes, that of a verdict 28.
 */
export const summons = (book: RuleBook, parameters: SummonsTerms, context: Data): Unit =>
  scope(function* () {
    const transaction = yield* bind(transactionOf(context))
    const redeemer = yield* bind(redeemerOf(context))
    const info = yield* bind(scriptInfoOf(context))
    const subject = yield* bind(headList(fieldsOf(info)))
    return branch(
      constructorOf(info),
      [Purpose.minting, mint(book, parameters, transaction, subject, redeemer)],
      [Purpose.spending, settle(book, parameters, transaction, subject, redeemer)],
    )
  })

/** Tokens are burned without rules: a question's token leaves its output only by the rules of spending it. */
const mint = (
  book: RuleBook,
  parameters: SummonsTerms,
  transaction: List,
  policy: Data,
  redeemer: Data,
): Unit =>
  scope(function* () {
    const minted = yield* bind(lookUp(mintOf(transaction), policy))
    return choose(
      onlyBurns(unMapData(minted)),
      unitValue(),
      choose(
        equalsInteger(constructorOf(redeemer), integer(SummonsAction.ask)),
        ask(book, parameters, transaction, { policy, minted, redeemer }),
        // The rules of spending the question then say what is minted.
        book.enforce({
          'verdict-beside-question': any(inputsOf(transaction), (input) =>
            equalsData(paymentCredentialOf(resolvedOf(input)), scriptCredential(policy)),
          ),
        }),
      ),
    )
  })
