import { headerFieldIndex as Header } from '@ratatosk/block'
import { BridgeDatum, BridgeSpend, ConfirmedState, QueueAction } from '../../layout.js'
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
import { outputRules, type RuleBook } from '../core/rules.js'
import * as p from '../core/term.js'
import { onlyBurns } from '../fraud/policy.js'
import { blockName, contentOf } from '../queue/context.js'
import { pay } from './pay.js'
import { type BridgeParameters, type BridgeSpending, queueOf, type Treasury, treasuryOf } from './treasury.js'

/**
 * The bridge: the policy of settlements, and the validator of the treasury and of settlements.
 *
 * A merge of a block makes a settlement of what leaves layer 2 by the block. Its token stays at the script's
 * address until everything is paid. One input leads a transaction that spends from the bridge, and its rules
 * judge the whole transaction; all others follow it.
 */
export const bridge = (book: RuleBook, parameters: BridgeParameters, context: p.Data): p.Unit =>
  p.scope(function* () {
    const transaction = yield* p.bind(transactionOf(context))
    const info = yield* p.bind(scriptInfoOf(context))
    const subject = yield* p.bind(p.headList(fieldsOf(info)))
    return branch(
      constructorOf(info),
      [Purpose.minting, mint(book, parameters, transaction, subject)],
      [Purpose.spending, spend(book, parameters, transaction, subject, redeemerOf(context))],
    )
  })

/** Tokens are burned without rules: a settlement's token leaves its output only by the rules of `pay`. */
const mint = (book: RuleBook, parameters: BridgeParameters, transaction: p.List, policy: p.Data): p.Unit =>
  p.scope(function* () {
    const minted = yield* p.bind(lookUp(mintOf(transaction), policy))
    return p.choose(
      onlyBurns(p.unMapData(minted)),
      p.unitValue(),
      settle(book, parameters, transaction, policy, p.mapOf(policy, minted)),
    )
  })

/** Makes output 2 the settlement of a block that is merged. @param own the quantities under the policy */
const settle = (
  book: RuleBook,
  parameters: BridgeParameters,
  transaction: p.List,
  policy: p.Data,
  own: p.Data,
): p.Unit =>
  p.scope(function* () {
    const minted = yield* p.bind(own)
    const name = yield* p.bind(mintedName(minted))
    const token = yield* p.bind(oneToken(policy, name, p.integer(1)))
    const queue = yield* p.bind(queueOf(transaction, parameters))
    const block = yield* p.bind(
      holderOf(inputsOf(transaction), oneToken(queue, blockName(name), p.integer(1))),
    )
    const header = yield* p.bind(fieldsOf(contentOf(block)))
    return book.enforce({
      'settle-mints-one': p.equalsData(minted, token),
      'settle-by-merge': p.equalsInteger(
        constructorOf(lookUp(redeemersOf(transaction), constr(Purpose.minting, queue))),
        p.integer(QueueAction.merge),
      ),
      ...outputRules('settle', at(outputsOf(transaction), 2), {
        address: constr(0, scriptCredential(policy), none()),
        tokens: token,
        datum: constr(BridgeDatum.settlement, at(header, Header.withdrawalsRoot), at(header, Header.endTime)),
      }),
    })
  })

/** The output of an input that holds these tokens and no others; fails if none does. */
const holderOf = (inputs: p.List, held: p.Data): p.Data =>
  p.scope(function* () {
    const tokens = yield* p.bind(held)
    return resolvedOf(find(inputs, (input) => p.equalsData(tokensOf(resolvedOf(input)), tokens)))
  })

const spend = (
  book: RuleBook,
  parameters: BridgeParameters,
  transaction: p.List,
  reference: p.Data,
  redeemer: p.Data,
): p.Unit =>
  p.scope(function* () {
    const own = yield* p.bind(spentBy(inputsOf(transaction), reference))
    const action = yield* p.bind(constructorOf(redeemer))
    const argument = p.headList(fieldsOf(redeemer))
    const spending: BridgeSpending = { transaction, reference, own }
    const treasury = yield* treasuryOf(book, parameters, spending)
    return branch(
      action,
      [BridgeSpend.follow, follow(book, spending, argument)],
      [BridgeSpend.pay, pay(book, parameters, spending, treasury, p.unListData(argument))],
      [BridgeSpend.tidy, tidy(parameters, spending, treasury)],
    )
  })

/** Leaves the judgement to another input. @param leader Integer: its index */
const follow = (book: RuleBook, { transaction, own }: BridgeSpending, leader: p.Data): p.Unit =>
  p.scope(function* () {
    const input = yield* p.bind(fieldsOf(itemAt(inputsOf(transaction), p.unIData(leader))))
    const action = yield* p.bind(
      constructorOf(lookUp(redeemersOf(transaction), constr(Purpose.spending, p.headList(input)))),
    )
    return book.enforce({
      'follow-at-bridge': p.equalsData(paymentCredentialOf(at(input, 1)), paymentCredentialOf(own)),
      'follow-leader': either(
        p.equalsInteger(action, p.integer(BridgeSpend.pay)),
        p.equalsInteger(action, p.integer(BridgeSpend.tidy)),
      ),
    })
  })

/**
 * Makes one reserve of deposits of confirmed blocks, and of reserves if one leads. The queue's root is a
 * reference input.
 */
const tidy = (parameters: BridgeParameters, { transaction }: BridgeSpending, treasury: Treasury): p.Unit =>
  p.scope(function* () {
    const queue = yield* p.bind(queueOf(transaction, parameters))
    const token = oneToken(queue, p.unBData(parameters.rootName), p.integer(1))
    const state = contentOf(holderOf(referenceInputsOf(transaction), token))
    const confirmed = p.unIData(at(fieldsOf(state), ConfirmedState.endTime))
    return treasury.balances(false, confirmed, outputsOf(transaction), p.integer(0))
  })
