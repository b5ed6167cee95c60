import { headerFieldIndex as Header } from '@ratatosk/block'
import { ConfirmedState, settlementAda } from '../../layout.js'
import {
  addInteger,
  bData,
  equalsByteString,
  equalsData,
  equalsInteger,
  headList,
  integer,
  lessThanEqualsInteger,
  nullList,
  tailList,
  unBData,
  unIData,
} from '../core/builtins.js'
import {
  lovelaceOf,
  mintedQuantity,
  noTokens,
  oneToken,
  outputsOf,
  policyOf,
  tokenNameOf,
  validFromOf,
} from '../core/context.js'
import { at, both, constr, either, fieldsOf, some } from '../core/data.js'
import { continuingOutputRules, outputRules } from '../core/output-rules.js'
import type { RuleBook } from '../core/rules.js'
import { bind, choose, scope, type Unit } from '../core/term.js'
import { emptyHash } from '../mpf/merkle.js'
import {
  contentOf,
  elementDatum,
  hashInName,
  isRoot,
  linkOf,
  type QueueContext,
  refundAddress,
} from './context.js'

/**
 * Merges the oldest block: spends the root and the block, burns the block's token, pays the root back as
 * output 0 with the block's state, and returns the block's ada to its operator as output 1. If outputs leave
 * layer 2 by the block, the bridge makes their settlement, which may take a part of this ada.
 */
export const merge = (
  book: RuleBook,
  { transaction, policy, minted, spent, parameters }: QueueContext,
): Unit =>
  scope(function* () {
    const first = yield* bind(headList(spent))
    const second = yield* bind(at(spent, 1))
    const rootFirst = yield* bind(isRoot(first, parameters.rootName))
    const root = yield* bind(choose(rootFirst, first, second))
    const block = yield* bind(choose(rootFirst, second, first))
    const name = yield* bind(tokenNameOf(block))
    const hash = yield* bind(bData(hashInName(name)))
    const fields = yield* bind(fieldsOf(contentOf(block)))
    const outputs = yield* bind(outputsOf(transaction))
    const refund = yield* bind(at(outputs, 1))
    const owesNothing = yield* bind(equalsData(at(fields, Header.withdrawalsRoot), bData(emptyHash())))
    const state = constr(
      0,
      hash,
      at(fields, Header.prevHeaderHash),
      at(fields, Header.utxosRoot),
      at(fields, Header.startTime),
      at(fields, Header.endTime),
      at(fields, Header.blockVersion),
    )
    return book.enforce({
      'merge-spends-two-elements': nullList(tailList(tailList(spent))),
      'merge-spends-genuine-root': both(
        equalsData(policyOf(root), policy),
        equalsByteString(tokenNameOf(root), unBData(parameters.rootName)),
      ),
      'merge-follows-confirmed-state': equalsData(
        at(fields, Header.prevHeaderHash),
        at(fieldsOf(contentOf(root)), ConfirmedState.headerHash),
      ),
      'merge-oldest-block': equalsData(linkOf(root), some(hash)),
      'merge-burns-block-only': equalsData(minted, oneToken(policy, name, integer(-1))),
      // The bridge's rules say what the settlement is.
      'merge-settles': either(
        owesNothing,
        equalsInteger(mintedQuantity(transaction, parameters.bridge, hash), integer(1)),
      ),
      'merge-mature': lessThanEqualsInteger(
        addInteger(unIData(at(fields, Header.endTime)), unIData(parameters.maturityWindow)),
        validFromOf(transaction),
      ),
      ...continuingOutputRules(
        'merge-continues',
        headList(outputs),
        root,
        elementDatum(state, linkOf(block)),
      ),
      ...outputRules('merge-refunds', refund, {
        address: refundAddress(fields),
        tokens: noTokens(),
        // Names the block, so that no other contract can count this payment as its own.
        datum: hash,
      }),
      'merge-refunds-ada': lessThanEqualsInteger(
        lovelaceOf(block),
        addInteger(lovelaceOf(refund), choose(owesNothing, integer(0), integer(settlementAda))),
      ),
    })
  })
