import type { PData, PLam, PList, PUnit } from '@harmoniclabs/plu-ts'
import { headerFieldIndex as Header } from '@ratatosk/block'
import { ConfirmedState } from '../../layout.js'
import {
  bData,
  equalsData,
  equalsInteger,
  headList,
  integer,
  lessThanEqualsInteger,
  nullList,
  tailList,
  unBData,
  unIData,
  unListData,
} from '../core/builtins.js'
import {
  anyHolds,
  lovelaceOf,
  noTokens,
  oneToken,
  outputsOf,
  policyOf,
  tokenNameOf,
  tokensOf,
} from '../core/context.js'
import { at, farItemAt, fieldsOf, lengthOf, not, valueIn } from '../core/data.js'
import { continuingOutputRules, outputRules } from '../core/output-rules.js'
import type { RuleBook } from '../core/rules.js'
import { bind, call, choose, type Data, lambda, recursive, scope, type Unit } from '../core/term.js'
import {
  blockName,
  contentOf,
  elementDatum,
  hashInName,
  isRoot,
  linkOf,
  type QueueContext,
  refundAddress,
} from './context.js'

/**
 * Prunes stale blocks, which anyone may do: spends an element and blocks that stand behind it in the list
 * and do not follow it, burns the blocks' tokens, pays the element back as output 0 with the last block's
 * link, and returns each block's ada to its operator, in the order of the list from output 1 on.
 *
 * The redeemer states the places of the element and the blocks among the outputs spent from the queue, in the
 * order of the list. The links are walked in that order. They lead forward in time, so no element is met
 * twice; and as many are met as are spent.
 */
export const prune = (
  book: RuleBook,
  { transaction, policy, spent, parameters }: QueueContext,
  redeemer: Data,
): Unit =>
  scope(function* () {
    const places = yield* bind(unListData(headList(fieldsOf(redeemer))))
    const spentAt = (place: Data) => farItemAt(spent, unIData(place))
    const element = yield* bind(spentAt(headList(places)))
    const hash = yield* bind(
      choose(
        isRoot(element, parameters.rootName),
        at(fieldsOf(contentOf(element)), ConfirmedState.headerHash),
        bData(hashInName(tokenNameOf(element))),
      ),
    )
    const outputs = yield* bind(outputsOf(transaction))
    const walk = recursive<PList<PData>, PLam<PData, PLam<PList<PData>, PUnit>>>((next, rest) =>
      lambda((link) =>
        lambda((left) =>
          choose(
            nullList(rest),
            book.enforce({
              'prune-leaves-no-token': not(anyHolds(left, policy)),
              ...continuingOutputRules(
                'prune-continues',
                headList(outputs),
                element,
                elementDatum(contentOf(element), link),
              ),
            }),
            scope(function* () {
              const block = yield* bind(spentAt(headList(rest)))
              const header = yield* bind(fieldsOf(contentOf(block)))
              const refund = yield* bind(headList(left))
              return book.guard(
                {
                  'prune-walks-links': equalsData(
                    tokensOf(block),
                    oneToken(policy, blockName(unBData(valueIn(link))), integer(1)),
                  ),
                  'prune-stale-only': not(equalsData(at(header, Header.prevHeaderHash), hash)),
                  ...outputRules('prune-refunds', refund, {
                    address: refundAddress(header),
                    tokens: noTokens(),
                    datum: bData(hashInName(tokenNameOf(block))),
                  }),
                  'prune-refunds-ada': lessThanEqualsInteger(lovelaceOf(block), lovelaceOf(refund)),
                },
                call(next(tailList(rest)), linkOf(block), tailList(left)) as Unit,
              )
            }),
          ),
        ),
      ),
    )
    return book.guard(
      {
        'prune-spends-genuine-element': equalsData(policyOf(element), policy),
        'prune-meets-all-spent': equalsInteger(lengthOf(places), lengthOf(spent)),
      },
      call(walk(tailList(places)), linkOf(element), tailList(outputs)) as Unit,
    )
  })
