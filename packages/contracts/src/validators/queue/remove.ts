import { headerFieldIndex as Header } from '@ratatosk/block'
import { Approach, Registry, RegistryAction } from '../../layout.js'
import { authorises } from '../core/authority.js'
import {
  equalsByteString,
  equalsData,
  equalsInteger,
  headList,
  integer,
  nullList,
  tailList,
  unBData,
  unListData,
} from '../core/builtins.js'
import {
  datumOf,
  inputHolding,
  inputsOf,
  lookUp,
  oneToken,
  outputsOf,
  Purpose,
  policyOf,
  redeemersOf,
  referenceInputsOf,
  referenceOf,
  resolvedOf,
  tokenNameOf,
} from '../core/context.js'
import { any, at, constr, constructorOf, either, fieldsOf, not, some } from '../core/data.js'
import { continuingOutputRules } from '../core/output-rules.js'
import type { RuleBook } from '../core/rules.js'
import { isOf } from '../core/schedule.js'
import { bind, choose, type Data, type List, scope, type Unit } from '../core/term.js'
import type { QueueContext } from './context.js'
import { blockName, contentOf, elementDatum, linkOf } from './list-element.js'
import { showsVerdict } from './verdict.js'

/**
 * Removes a block: spends it and its predecessor, burns the block's token, and pays the predecessor back as
 * output 0 with the block's link. Blocks behind the removed one stay in the list until they are pruned; they
 * cannot be merged, because none of them follows the block before it.
 *
 * A verdict shows that the block is invalid, and its operator is slashed: the registry is spent for that, or
 * shows that the operator is no longer in it. Or the administrator decides, without a slash.
 */
export const remove = (
  book: RuleBook,
  { transaction, policy, minted, spent, parameters }: QueueContext,
  redeemer: Data,
): Unit =>
  scope(function* () {
    const hash = yield* bind(headList(fieldsOf(redeemer)))
    const approach = yield* bind(at(fieldsOf(redeemer), 1))
    const name = yield* bind(blockName(unBData(hash)))
    const first = yield* bind(headList(spent))
    const second = yield* bind(at(spent, 1))
    const blockFirst = yield* bind(equalsByteString(tokenNameOf(first), name))
    const block = yield* bind(choose(blockFirst, first, second))
    const predecessor = yield* bind(choose(blockFirst, second, first))
    const operator = yield* bind(at(fieldsOf(contentOf(block)), Header.operatorVkey))
    const is = (which: keyof typeof Approach) =>
      equalsInteger(constructorOf(approach), integer(Approach[which]))
    const byAdministrator = yield* bind(is('by-administrator'))
    const alreadySlashed = yield* bind(is('already-slashed'))
    const registryIn = (inputs: List) => inputHolding(inputs, parameters.registryPolicy)
    const registryBeside = resolvedOf(registryIn(referenceInputsOf(transaction)))
    const registrySpent = registryIn(inputsOf(transaction))
    return book.enforce({
      'remove-spends-two-elements': nullList(tailList(tailList(spent))),
      'remove-spends-genuine-predecessor': equalsData(policyOf(predecessor), policy),
      'remove-spends-genuine-block': equalsData(policyOf(block), policy),
      'remove-follows-predecessor': equalsData(linkOf(predecessor), some(hash)),
      'remove-burns-block-only': equalsData(minted, oneToken(policy, name, integer(-1))),
      'remove-by-administrator': either(
        not(byAdministrator),
        authorises(parameters.administrator, transaction),
      ),
      'remove-by-verdict': either(
        byAdministrator,
        showsVerdict(transaction, parameters.verdictPolicies, hash),
      ),
      'remove-slashes-operator': either(
        either(byAdministrator, alreadySlashed),
        equalsData(
          lookUp(redeemersOf(transaction), constr(Purpose.spending, referenceOf(registrySpent))),
          constr(RegistryAction.slash, operator, approach),
        ),
      ),
      'remove-already-slashed': either(
        not(alreadySlashed),
        not(any(unListData(at(fieldsOf(datumOf(registryBeside)), Registry.operators)), isOf(operator))),
      ),
      ...continuingOutputRules(
        'remove-continues',
        headList(outputsOf(transaction)),
        predecessor,
        elementDatum(contentOf(predecessor), linkOf(block)),
      ),
    })
  })
