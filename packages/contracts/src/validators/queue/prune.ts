import type { PData, PLam, PList } from '@harmoniclabs/plu-ts'
import { headerFieldIndex as Header } from '@ratatosk/block'
import { ConfirmedState } from '../../layout.js'
import {
  bData,
  equalsData,
  equalsInteger,
  headList,
  integer,
  nullList,
  tailList,
  unBData,
  unIData,
  unListData,
} from '../core/builtins.js'
import { anyHolds, oneToken, outputsOf, policyOf, tokenNameOf, tokensOf } from '../core/context.js'
import { at, farItemAt, fieldsOf, lengthOf, not, valueIn } from '../core/data.js'
import { continuingOutputRules } from '../core/output-rules.js'
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
} from './context.js'

/**
 * Prunes stale blocks, which anyone may do: spends an element and blocks that stand behind it in the list
 * and do not follow it, burns the blocks' tokens, and pays the element back as output 0 with the last block's
 * link. The blocks' ada goes to the transaction.
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
    const walk = recursive<PList<PData>, PLam<PData, PData>>((next, rest) =>
      lambda((link) =>
        choose(
          nullList(rest),
          link,
          scope(function* () {
            const block = yield* bind(spentAt(headList(rest)))
            return book.guard(
              {
                'prune-walks-links': equalsData(
                  tokensOf(block),
                  oneToken(policy, blockName(unBData(valueIn(link))), integer(1)),
                ),
                'prune-stale-only': not(
                  equalsData(at(fieldsOf(contentOf(block)), Header.prevHeaderHash), hash),
                ),
              },
              call<PData>(next(tailList(rest)), linkOf(block)),
            )
          }),
        ),
      ),
    )
    const outputs = yield* bind(outputsOf(transaction))
    const link = yield* bind(call<PData>(walk(tailList(places)), linkOf(element)))
    return book.enforce({
      'prune-spends-genuine-element': equalsData(policyOf(element), policy),
      'prune-meets-all-spent': equalsInteger(lengthOf(places), lengthOf(spent)),
      'prune-leaves-no-token': not(anyHolds(tailList(outputs), policy)),
      ...continuingOutputRules(
        'prune-continues',
        headList(outputs),
        element,
        elementDatum(contentOf(element), link),
      ),
    })
  })
