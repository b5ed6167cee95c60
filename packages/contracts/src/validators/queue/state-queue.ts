import { QueueAction } from '../../layout.js'
import { equalsInteger, fail, integer, mapOf } from '../core/builtins.js'
import {
  inputsOf,
  lookUp,
  mintOf,
  mintsUnderGuardOf,
  redeemerOf,
  scriptCredential,
  scriptInfoOf,
  spentAt,
  spentBy,
  transactionOf,
} from '../core/context.js'
import { at, constructorOf, fieldsOf } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import { choose, type Data, keep, type List, naming, type Unit } from '../core/term.js'
import { commit } from './commit.js'
import { deinit, init } from './life.js'
import { merge } from './merge.js'

/** What the state queue's script is applied to before it is a script: data, as the blueprint says. */
export interface QueueParameters {
  /** Bytes: the asset name of the root. */
  readonly rootName: Data
  /** Bytes: the hash of the administrator's verification key. */
  readonly administrator: Data
  /** Integer: milliseconds from a block's end to its merging. */
  readonly maturityWindow: Data
  /** Bytes: the policy of the operator registry. */
  readonly registryPolicy: Data
  /** Integer: milliseconds of an operator's turn. */
  readonly turnLength: Data
}

/** What each action is judged by. */
export interface Step {
  readonly parameters: QueueParameters
  readonly transaction: List
  /** Bytes: the script's own hash. */
  readonly policy: Data
  /** What is minted and burned under the own policy, as a value of that policy alone. */
  readonly minted: Data
  /** The outputs that are spent at the script, whatever their staking part. */
  readonly spent: List
}

/**
 * The state queue: one script that is policy and validator, so that each knows the other's hash.
 *
 * Its tokens are at its address from their minting to their burning. To spend there at all, a transaction must mint or burn
 * under the policy; so all rules are the policy's, run once a transaction.
 */
export const stateQueue = (book: RuleBook, parameters: QueueParameters, context: Data): Unit =>
  naming(function* () {
    const transaction = yield* keep(transactionOf(context))
    const info = yield* keep(scriptInfoOf(context))
    const purpose = yield* keep(constructorOf(info))
    return choose(
      equalsInteger(purpose, integer(0)),
      mint(book, parameters, transaction, at(fieldsOf(info), 0), redeemerOf(context)),
      choose(equalsInteger(purpose, integer(1)), spend(book, transaction, at(fieldsOf(info), 0)), fail()),
    )
  })

const mint = (
  book: RuleBook,
  parameters: QueueParameters,
  transaction: List,
  own: Data,
  redeemer: Data,
): Unit =>
  naming(function* () {
    const policy = yield* keep(own)
    const minted = yield* keep(mapOf(policy, lookUp(mintOf(transaction), policy)))
    const spent = yield* keep(spentAt(inputsOf(transaction), scriptCredential(policy)))
    const action = yield* keep(constructorOf(redeemer))
    const step: Step = { parameters, transaction, policy, minted, spent }
    return choose(
      equalsInteger(action, integer(QueueAction.commit)),
      commit(book, step),
      choose(
        equalsInteger(action, integer(QueueAction.merge)),
        merge(book, step),
        choose(
          equalsInteger(action, integer(QueueAction.init)),
          init(book, step),
          // Removal comes with fraud proofs; until then its place is kept, and it fails like what does not exist.
          choose(equalsInteger(action, integer(QueueAction.deinit)), deinit(book, step), fail()),
        ),
      ),
    )
  })

const spend = (book: RuleBook, transaction: List, reference: Data): Unit =>
  book.enforce({
    'spend-by-policy': mintsUnderGuardOf(transaction, spentBy(inputsOf(transaction), reference)),
  })
