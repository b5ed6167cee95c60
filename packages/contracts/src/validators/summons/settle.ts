import { Question, QuestionKind, SummonsAction } from '../../summons/layout.js'
import {
  bData,
  blake2b256,
  equalsData,
  equalsInteger,
  headList,
  integer,
  lessThanEqualsInteger,
  nullList,
  serialiseData,
  subtractInteger,
  tailList,
  unIData,
  unMapData,
} from '../core/builtins.js'
import {
  addressOf,
  datumFieldOf,
  datumOf,
  inlineDatum,
  inputsOf,
  keyCredential,
  lookUp,
  lovelaceOf,
  mintOf,
  outputsOf,
  paymentCredentialOf,
  referenceInputsOf,
  spentAt,
  spentBy,
  validFromOf,
} from '../core/context.js'
import { at, constr, constructorOf, fieldsOf, itemAt, none } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import { bind, choose, type Data, type List, scope, type Unit } from '../core/term.js'
import { showsChunk } from './chunk.js'
import type { SummonsTerms } from './terms.js'
import { showsNode } from './tree.js'

/**
 * Spends a question: `Answer [refund, answer]`, or `Expire [refund]` when its deadline is over. The output
 * with the index `refund` returns the bond to the asker; an answerer may keep the reward. An answer is taken
 * for as long as the question is there.
 *
 * @param reference the spent output's
 */
export const settle = (
  book: RuleBook,
  parameters: SummonsTerms,
  transaction: List,
  reference: Data,
  redeemer: Data,
): Unit =>
  scope(function* () {
    const inputs = yield* bind(inputsOf(transaction))
    const own = yield* bind(spentBy(inputs, reference))
    const credential = yield* bind(paymentCredentialOf(own))
    const question = yield* bind(datumOf(own))
    const asked = yield* bind(fieldsOf(question))
    const name = yield* bind(bData(blake2b256(serialiseData(question))))
    const minted = yield* bind(unMapData(lookUp(mintOf(transaction), headList(fieldsOf(credential)))))
    const fields = yield* bind(fieldsOf(redeemer))
    const refund = yield* bind(itemAt(outputsOf(transaction), unIData(headList(fields))))
    const isAnswer = yield* bind(equalsInteger(constructorOf(redeemer), integer(SummonsAction.answer)))
    const kept = choose(isAnswer, unIData(parameters.reward), integer(0))
    const answer = at(fields, 1)
    return book.guard(
      {
        'settle-alone': nullList(tailList(spentAt(inputs, credential))),
        'settle-burns-question': equalsInteger(unIData(lookUp(minted, name)), integer(-1)),
        'settle-refund-address': equalsData(
          addressOf(refund),
          constr(0, keyCredential(at(asked, Question.refund)), none()),
        ),
        'settle-refund-datum': equalsData(datumFieldOf(refund), inlineDatum(name)),
        'settle-refund-ada': lessThanEqualsInteger(
          subtractInteger(lovelaceOf(own), kept),
          lovelaceOf(refund),
        ),
      },
      choose(
        isAnswer,
        book.guard(
          { 'answer-mints-nothing': nullList(tailList(minted)) },
          choose(
            equalsInteger(constructorOf(question), integer(QuestionKind.chunk)),
            showsChunk(book, asked, answer, referenceInputsOf(transaction)),
            showsNode(book, question, asked, answer),
          ),
        ),
        book.enforce({
          'expire-late': lessThanEqualsInteger(
            unIData(at(asked, Question.deadline)),
            validFromOf(transaction),
          ),
          'expire-mints-verdict': equalsInteger(
            unIData(lookUp(minted, at(asked, Question.headerHash))),
            integer(1),
          ),
          'expire-mints-verdict-only': nullList(tailList(tailList(minted))),
        }),
      ),
    )
  })
