import { Header } from '../../layout.js'
import {
  addInteger,
  bData,
  equalsByteString,
  equalsData,
  headList,
  integer,
  lessThanEqualsInteger,
  nullList,
  tailList,
  unBData,
  unIData,
} from '../core/builtins.js'
import {
  keyCredential,
  lovelaceOf,
  noTokens,
  oneToken,
  outputsOf,
  policyOf,
  tokenNameOf,
  validFromOf,
} from '../core/context.js'
import { at, both, constr, fieldsOf, none, some } from '../core/data.js'
import { carriedRules, outputRules } from '../core/output-rules.js'
import type { RuleBook } from '../core/rules.js'
import { choose, keep, naming, type Unit } from '../core/term.js'
import { contentOf, elementDatum, hashInName, isRoot, linkOf } from './list-element.js'
import type { Step } from './state-queue.js'

/**
 * Merges the oldest block: spends the root and the block, burns the block's token, pays the root back as output 0 with the
 * block's state, and the block's ada to its operator as output 1.
 */
export const merge = (book: RuleBook, { transaction, policy, minted, spent, parameters }: Step): Unit =>
  naming(function* () {
    const first = yield* keep(headList(spent))
    const second = yield* keep(at(spent, 1))
    const rootFirst = yield* keep(isRoot(first, parameters.rootName))
    const root = yield* keep(choose(rootFirst, first, second))
    const block = yield* keep(choose(rootFirst, second, first))
    const name = yield* keep(tokenNameOf(block))
    const hash = yield* keep(bData(hashInName(name)))
    const fields = yield* keep(fieldsOf(contentOf(block)))
    const outputs = yield* keep(outputsOf(transaction))
    const refund = yield* keep(at(outputs, 1))
    const state = constr(
      0,
      hash,
      at(fields, Header.prevHeaderHash),
      at(fields, Header.utxosRoot),
      at(fields, Header.startTime),
      at(fields, Header.endTime),
      at(fields, Header.protocolVersion),
    )
    return book.enforce({
      'merge-spends-two-elements': nullList(tailList(tailList(spent))),
      'merge-spends-the-root': both(
        equalsData(policyOf(root), policy),
        equalsByteString(tokenNameOf(root), unBData(parameters.rootName)),
      ),
      'merge-the-oldest': equalsData(linkOf(root), some(hash)),
      'merge-burns-its-block': equalsData(minted, oneToken(policy, name, integer(-1))),
      'merge-mature': lessThanEqualsInteger(
        addInteger(unIData(at(fields, Header.endTime)), unIData(parameters.maturityWindow)),
        validFromOf(transaction),
      ),
      ...carriedRules('merge-carries', headList(outputs), root, elementDatum(state, linkOf(block))),
      ...outputRules('merge-refunds', refund, {
        address: constr(0, keyCredential(at(fields, Header.operatorVkey)), none()),
        tokens: noTokens(),
        // Marked, so that no other contract takes this payment for one that is due to it.
        datum: hash,
      }),
      'merge-refunds-ada': lessThanEqualsInteger(lovelaceOf(block), lovelaceOf(refund)),
    })
  })
