import type { PBool, PData, PLam, PList, PPair, PUnit } from '@harmoniclabs/plu-ts'
import { headerFieldIndex as Header } from '@ratatosk/block'
import { Approach, ConfirmedState, Registry, RegistryAction } from '../../layout.js'
import {
  anyHolds,
  authorises,
  datumOf,
  inputHolding,
  inputsOf,
  lookUp,
  lovelaceOf,
  mintOf,
  noTokens,
  oneToken,
  outputsOf,
  Purpose,
  policyOf,
  redeemersOf,
  referenceInputsOf,
  referenceOf,
  resolvedOf,
  tokenNameOf,
  tokensOf,
  valueFieldOf,
} from '../core/context.js'
import {
  any,
  at,
  both,
  constr,
  constructorOf,
  either,
  farItemAt,
  fieldsOf,
  includes,
  lengthOf,
  not,
  some,
  valueIn,
} from '../core/data.js'
import { continuingOutputRules, outputRules, type RuleBook } from '../core/rules.js'
import { isOf } from '../core/schedule.js'
import * as p from '../core/term.js'
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
  redeemer: p.Data,
): p.Unit =>
  p.scope(function* () {
    const hash = yield* p.bind(p.headList(fieldsOf(redeemer)))
    const approach = yield* p.bind(at(fieldsOf(redeemer), 1))
    const name = yield* p.bind(blockName(p.unBData(hash)))
    const first = yield* p.bind(p.headList(spent))
    const second = yield* p.bind(at(spent, 1))
    const blockFirst = yield* p.bind(p.equalsByteString(tokenNameOf(first), name))
    const block = yield* p.bind(p.choose(blockFirst, first, second))
    const predecessor = yield* p.bind(p.choose(blockFirst, second, first))
    const operator = yield* p.bind(at(fieldsOf(contentOf(block)), Header.operatorVkey))
    const is = (which: keyof typeof Approach) =>
      p.equalsInteger(constructorOf(approach), p.integer(Approach[which]))
    const byAdministrator = yield* p.bind(is('by-administrator'))
    const alreadySlashed = yield* p.bind(is('already-slashed'))
    const registryIn = (inputs: p.List) => inputHolding(inputs, parameters.registryPolicy)
    const registryBeside = resolvedOf(registryIn(referenceInputsOf(transaction)))
    const registrySpent = registryIn(inputsOf(transaction))
    return book.enforce({
      'remove-spends-two-elements': p.nullList(p.tailList(p.tailList(spent))),
      'remove-spends-genuine-predecessor': p.equalsData(policyOf(predecessor), policy),
      'remove-spends-genuine-block': p.equalsData(policyOf(block), policy),
      'remove-follows-predecessor': p.equalsData(linkOf(predecessor), some(hash)),
      'remove-burns-block-only': p.equalsData(minted, oneToken(policy, name, p.integer(-1))),
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
        p.equalsData(
          lookUp(redeemersOf(transaction), constr(Purpose.spending, referenceOf(registrySpent))),
          constr(RegistryAction.slash, operator, approach),
        ),
      ),
      'remove-already-slashed': either(
        not(alreadySlashed),
        not(any(p.unListData(at(fieldsOf(datumOf(registryBeside)), Registry.operators)), isOf(operator))),
      ),
      ...continuingOutputRules(
        'remove-continues',
        p.headList(outputsOf(transaction)),
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
const showsVerdict = (transaction: p.List, policies: p.Data, hash: p.Data): p.Bool =>
  p.scope(function* () {
    const listed = yield* p.bind(p.unListData(policies))
    const convicts = yield* p.bind(
      p.lambda<PList<PPair<PData, PData>>, PBool>((value) =>
        any(value, (entry) =>
          both(
            includes(listed, p.fstPair(entry)),
            any(p.unMapData(p.sndPair(entry)), (token) =>
              both(
                p.equalsData(p.fstPair(token), hash),
                p.lessThanInteger(p.integer(0), p.unIData(p.sndPair(token))),
              ),
            ),
          ),
        ),
      ),
    )
    return either(
      p.call<PBool>(convicts, mintOf(transaction)),
      any(referenceInputsOf(transaction), (input) =>
        p.call(convicts, p.tailList(p.unMapData(valueFieldOf(resolvedOf(input))))),
      ),
    )
  })

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
  redeemer: p.Data,
): p.Unit =>
  p.scope(function* () {
    const places = yield* p.bind(p.unListData(p.headList(fieldsOf(redeemer))))
    const spentAt = (place: p.Data) => farItemAt(spent, p.unIData(place))
    const element = yield* p.bind(spentAt(p.headList(places)))
    const hash = yield* p.bind(
      p.choose(
        isRoot(element, parameters.rootName),
        at(fieldsOf(contentOf(element)), ConfirmedState.headerHash),
        p.bData(hashInName(tokenNameOf(element))),
      ),
    )
    const outputs = yield* p.bind(outputsOf(transaction))
    const walk = p.recursive<PList<PData>, PLam<PData, PLam<PList<PData>, PUnit>>>((next, rest) =>
      p.lambda((link) =>
        p.lambda((left) =>
          p.choose(
            p.nullList(rest),
            book.enforce({
              'prune-leaves-no-token': not(anyHolds(left, policy)),
              ...continuingOutputRules(
                'prune-continues',
                p.headList(outputs),
                element,
                elementDatum(contentOf(element), link),
              ),
            }),
            p.scope(function* () {
              const block = yield* p.bind(spentAt(p.headList(rest)))
              const header = yield* p.bind(fieldsOf(contentOf(block)))
              const refund = yield* p.bind(p.headList(left))
              return book.guard(
                {
                  'prune-walks-links': p.equalsData(
                    tokensOf(block),
                    oneToken(policy, blockName(p.unBData(valueIn(link))), p.integer(1)),
                  ),
                  'prune-stale-only': not(p.equalsData(at(header, Header.prevHeaderHash), hash)),
                  ...outputRules('prune-refunds', refund, {
                    address: refundAddress(header),
                    tokens: noTokens(),
                    datum: p.bData(hashInName(tokenNameOf(block))),
                  }),
                  'prune-refunds-ada': p.lessThanEqualsInteger(lovelaceOf(block), lovelaceOf(refund)),
                },
                p.call(next(p.tailList(rest)), linkOf(block), p.tailList(left)) as p.Unit,
              )
            }),
          ),
        ),
      ),
    )
    return book.guard(
      {
        'prune-spends-genuine-element': p.equalsData(policyOf(element), policy),
        'prune-meets-all-spent': p.equalsInteger(lengthOf(places), lengthOf(spent)),
      },
      p.call(walk(p.tailList(places)), linkOf(element), p.tailList(outputs)) as p.Unit,
    )
  })
