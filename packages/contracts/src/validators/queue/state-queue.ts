import { QueueAction } from '../../layout.js'
import { mapOf, unIData } from '../core/builtins.js'
import {
  inputsOf,
  lookUp,
  mintOf,
  mintsUnderGuardOf,
  Purpose,
  redeemerOf,
  scriptCredential,
  scriptInfoOf,
  spentAt,
  spentBy,
  transactionOf,
} from '../core/context.js'
import { at, branch, constructorOf, fieldsOf, skipAbout } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import { bind, type Data, type List, scope, type Unit } from '../core/term.js'
import { commit } from './commit.js'
import type { QueueContext, QueueParameters } from './context.js'
import { deinit, init } from './init-deinit.js'
import { merge } from './merge.js'
import { prune } from './prune.js'
import { remove } from './remove.js'

/**
 * The state queue: one script that is both minting policy and spending validator, so that each knows the
 * other's hash.
 *
 * A token of the policy stays at the script's address from mint to burn. A transaction that spends there must
 * also mint or burn under the policy, so the policy's rules judge the whole transaction, once, however many
 * elements it spends.
 */
export const stateQueue = (book: RuleBook, parameters: QueueParameters, context: Data): Unit =>
  scope(function* () {
    const transaction = yield* bind(transactionOf(context))
    const info = yield* bind(scriptInfoOf(context))
    const purpose = yield* bind(constructorOf(info))
    return branch(
      purpose,
      [Purpose.minting, mint(book, parameters, transaction, at(fieldsOf(info), 0), redeemerOf(context))],
      [Purpose.spending, spend(book, transaction, at(fieldsOf(info), 0), redeemerOf(context))],
    )
  })

const mint = (
  book: RuleBook,
  parameters: QueueParameters,
  transaction: List,
  own: Data,
  redeemer: Data,
): Unit =>
  scope(function* () {
    const policy = yield* bind(own)
    const minted = yield* bind(mapOf(policy, lookUp(mintOf(transaction), policy)))
    const spent = yield* bind(spentAt(inputsOf(transaction), scriptCredential(policy)))
    const action = yield* bind(constructorOf(redeemer))
    const context: QueueContext = { parameters, transaction, policy, minted, spent }
    return branch(
      action,
      [QueueAction.commit, commit(book, context)],
      [QueueAction.merge, merge(book, context)],
      [QueueAction.init, init(book, context)],
      [QueueAction.deinit, deinit(book, context)],
      [QueueAction.remove, remove(book, context, redeemer)],
      [QueueAction.prune, prune(book, context, redeemer)],
    )
  })

/** @param redeemer a lower bound on the input's index, which spares a search where many elements are spent */
const spend = (book: RuleBook, transaction: List, reference: Data, redeemer: Data): Unit =>
  scope(function* () {
    const inputs = yield* bind(skipAbout(inputsOf(transaction), unIData(redeemer)))
    return book.enforce({
      'spend-under-policy': mintsUnderGuardOf(transaction, spentBy(inputs, reference)),
    })
  })
