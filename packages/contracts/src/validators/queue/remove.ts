import type { PBool, PData, PList, PPair } from '@harmoniclabs/plu-ts'
import { headerFieldIndex as Header } from '@ratatosk/block'
import { Approach, Registry, RegistryAction } from '../../layout.js'
import { authorises } from '../core/authority.js'
import {
  equalsByteString,
  equalsData,
  equalsInteger,
  fstPair,
  headList,
  integer,
  lessThanInteger,
  nullList,
  sndPair,
  tailList,
  unBData,
  unIData,
  unListData,
  unMapData,
} from '../core/builtins.js'
import {
  datumOf,
  inputHolding,
  inputsOf,
  lookUp,
  mintOf,
  oneToken,
  outputsOf,
  Purpose,
  policyOf,
  redeemersOf,
  referenceInputsOf,
  referenceOf,
  resolvedOf,
  tokenNameOf,
  valueFieldOf,
} from '../core/context.js'
import { any, at, both, constr, constructorOf, either, fieldsOf, includes, not, some } from '../core/data.js'
import { continuingOutputRules } from '../core/output-rules.js'
import type { RuleBook } from '../core/rules.js'
import { isOf } from '../core/schedule.js'
import {
  type Bool,
  bind,
  call,
  choose,
  type Data,
  type List,
  lambda,
  scope,
  type Unit,
} from '../core/term.js'
import { blockName, contentOf, elementDatum, linkOf, type QueueContext } from './context.js'

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

/**
 * Whether a verdict against a block is shown: a token with the header hash as its name, under one of the
 * verdict policies, is minted in the transaction or held by one of its reference inputs. A verdict speaks of
 * the header alone, so it stays true however often it is shown.
 */
const showsVerdict = (transaction: List, policies: Data, hash: Data): Bool =>
  scope(function* () {
    const listed = yield* bind(unListData(policies))
    const convicts = yield* bind(
      lambda<PList<PPair<PData, PData>>, PBool>((value) =>
        any(value, (entry) =>
          both(
            includes(listed, fstPair(entry)),
            any(unMapData(sndPair(entry)), (token) =>
              both(equalsData(fstPair(token), hash), lessThanInteger(integer(0), unIData(sndPair(token)))),
            ),
          ),
        ),
      ),
    )
    return either(
      call<PBool>(convicts, mintOf(transaction)),
      any(referenceInputsOf(transaction), (input) =>
        call(convicts, tailList(unMapData(valueFieldOf(resolvedOf(input))))),
      ),
    )
  })
