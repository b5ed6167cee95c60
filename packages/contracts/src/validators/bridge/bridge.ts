import { headerFieldIndex as Header } from '@ratatosk/block'
import { BridgeDatum, BridgeSpend, ConfirmedState, QueueAction } from '../../layout.js'
import {
  equalsData,
  equalsInteger,
  headList,
  integer,
  mapOf,
  unBData,
  unIData,
  unitValue,
  unListData,
  unMapData,
} from '../core/builtins.js'
import {
  inputsOf,
  lookUp,
  mintedName,
  mintOf,
  oneToken,
  outputsOf,
  Purpose,
  paymentCredentialOf,
  redeemerOf,
  redeemersOf,
  referenceInputsOf,
  resolvedOf,
  scriptCredential,
  scriptInfoOf,
  spentBy,
  tokensOf,
  transactionOf,
} from '../core/context.js'
import { at, branch, constr, constructorOf, either, fieldsOf, find, itemAt, none } from '../core/data.js'
import { outputRules } from '../core/output-rules.js'
import type { RuleBook } from '../core/rules.js'
import { bind, choose, type Data, type List, scope, type Unit } from '../core/term.js'
import { onlyBurns } from '../fraud/policy.js'
import { blockName, contentOf } from '../queue/context.js'
import { type BridgeParameters, type BridgeSpending, queueOf } from './context.js'
import { pay } from './pay.js'
import { type Treasury, treasuryOf } from './treasury.js'

/**
 * The bridge: the policy of settlements, and the validator of the treasury and of settlements.
 *
 * A merge of a block makes a settlement of what leaves layer 2 by the block. Its token stays at the script's
 * address until everything is paid. One input leads a transaction that spends from the bridge, and its rules
 * judge the whole transaction; all others follow it.
 */
export const bridge = (book: RuleBook, parameters: BridgeParameters, context: Data): Unit =>
  scope(function* () {
    const transaction = yield* bind(transactionOf(context))
    const info = yield* bind(scriptInfoOf(context))
    const subject = yield* bind(headList(fieldsOf(info)))
    return branch(
      constructorOf(info),
      [Purpose.minting, mint(book, parameters, transaction, subject)],
      [Purpose.spending, spend(book, parameters, transaction, subject, redeemerOf(context))],
    )
  })

/** Tokens are burned without rules: a settlement's token leaves its output only by the rules of `pay`. */
const mint = (book: RuleBook, parameters: BridgeParameters, transaction: List, policy: Data): Unit =>
  scope(function* () {
    const minted = yield* bind(lookUp(mintOf(transaction), policy))
    return choose(
      onlyBurns(unMapData(minted)),
      unitValue(),
      settle(book, parameters, transaction, policy, mapOf(policy, minted)),
    )
  })

/** Makes output 2 the settlement of a block that is merged. @param own the quantities under the policy */
const settle = (
  book: RuleBook,
  parameters: BridgeParameters,
  transaction: List,
  policy: Data,
  own: Data,
): Unit =>
  scope(function* () {
    const minted = yield* bind(own)
    const name = yield* bind(mintedName(minted))
    const token = yield* bind(oneToken(policy, name, integer(1)))
    const queue = yield* bind(queueOf(transaction, parameters))
    const block = yield* bind(holderOf(inputsOf(transaction), oneToken(queue, blockName(name), integer(1))))
    const header = yield* bind(fieldsOf(contentOf(block)))
    return book.enforce({
      'settle-mints-one': equalsData(minted, token),
      'settle-by-merge': equalsInteger(
        constructorOf(lookUp(redeemersOf(transaction), constr(Purpose.minting, queue))),
        integer(QueueAction.merge),
      ),
      ...outputRules('settle', at(outputsOf(transaction), 2), {
        address: constr(0, scriptCredential(policy), none()),
        tokens: token,
        datum: constr(BridgeDatum.settlement, at(header, Header.withdrawalsRoot), at(header, Header.endTime)),
      }),
    })
  })

/** The output of an input that holds these tokens and no others; fails if none does. */
const holderOf = (inputs: List, held: Data): Data =>
  scope(function* () {
    const tokens = yield* bind(held)
    return resolvedOf(find(inputs, (input) => equalsData(tokensOf(resolvedOf(input)), tokens)))
  })

const spend = (
  book: RuleBook,
  parameters: BridgeParameters,
  transaction: List,
  reference: Data,
  redeemer: Data,
): Unit =>
  scope(function* () {
    const own = yield* bind(spentBy(inputsOf(transaction), reference))
    const action = yield* bind(constructorOf(redeemer))
    const argument = headList(fieldsOf(redeemer))
    const spending: BridgeSpending = { transaction, reference, own }
    const treasury = yield* treasuryOf(book, parameters, spending)
    return branch(
      action,
      [BridgeSpend.follow, follow(book, spending, argument)],
      [BridgeSpend.pay, pay(book, parameters, spending, treasury, unListData(argument))],
      [BridgeSpend.tidy, tidy(parameters, spending, treasury)],
    )
  })

/** Leaves the judgement to another input. @param leader Integer: its index */
const follow = (book: RuleBook, { transaction, own }: BridgeSpending, leader: Data): Unit =>
  scope(function* () {
    const input = yield* bind(fieldsOf(itemAt(inputsOf(transaction), unIData(leader))))
    const action = yield* bind(
      constructorOf(lookUp(redeemersOf(transaction), constr(Purpose.spending, headList(input)))),
    )
    return book.enforce({
      'follow-at-bridge': equalsData(paymentCredentialOf(at(input, 1)), paymentCredentialOf(own)),
      'follow-leader': either(
        equalsInteger(action, integer(BridgeSpend.pay)),
        equalsInteger(action, integer(BridgeSpend.tidy)),
      ),
    })
  })

/**
 * Makes one reserve of deposits of confirmed blocks, and of reserves if one leads. The queue's root is a
 * reference input.
 */
const tidy = (parameters: BridgeParameters, { transaction }: BridgeSpending, treasury: Treasury): Unit =>
  scope(function* () {
    const queue = yield* bind(queueOf(transaction, parameters))
    const token = oneToken(queue, unBData(parameters.rootName), integer(1))
    const state = contentOf(holderOf(referenceInputsOf(transaction), token))
    const confirmed = unIData(at(fieldsOf(state), ConfirmedState.endTime))
    return treasury.balances(false, confirmed, outputsOf(transaction), integer(0))
  })
