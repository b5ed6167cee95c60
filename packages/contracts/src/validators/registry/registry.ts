import { RegistryAction } from '../../layout.js'
import { mapOf } from '../core/builtins.js'
import {
  inputsOf,
  lookUp,
  mintOf,
  mintsUnderGuardOf,
  Purpose,
  redeemerOf,
  scriptInfoOf,
  spentBy,
  transactionOf,
} from '../core/context.js'
import { at, branch, constructorOf, fieldsOf } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import { bind, type Data, type List, scope, type Unit } from '../core/term.js'
import type { ChangeContext, MintContext, RegistryParameters } from './context.js'
import { deinit, init } from './init-deinit.js'
import { register, release, retire } from './operators.js'
import { setQueue } from './set-queue.js'
import { slash } from './slash.js'

/**
 * The operator registry: one script that is both minting policy and spending validator. One output holds its
 * token, the bonds and, as its datum, the operators. The state queue reads it as a reference input.
 */
export const operatorRegistry = (book: RuleBook, parameters: RegistryParameters, context: Data): Unit =>
  scope(function* () {
    const transaction = yield* bind(transactionOf(context))
    const info = yield* bind(scriptInfoOf(context))
    const purpose = yield* bind(constructorOf(info))
    const redeemer = yield* bind(redeemerOf(context))
    return branch(
      purpose,
      [Purpose.minting, mint(book, parameters, transaction, at(fieldsOf(info), 0), redeemer)],
      [Purpose.spending, spend(book, parameters, transaction, at(fieldsOf(info), 0), redeemer)],
    )
  })

const mint = (
  book: RuleBook,
  parameters: RegistryParameters,
  transaction: List,
  own: Data,
  redeemer: Data,
): Unit =>
  scope(function* () {
    const policy = yield* bind(own)
    const minted = yield* bind(mapOf(policy, lookUp(mintOf(transaction), policy)))
    const action = yield* bind(constructorOf(redeemer))
    const context: MintContext = { parameters, transaction, policy, minted }
    return branch(
      action,
      [RegistryAction.init, init(book, context)],
      [RegistryAction.deinit, deinit(book, context)],
    )
  })

const spend = (
  book: RuleBook,
  parameters: RegistryParameters,
  transaction: List,
  reference: Data,
  redeemer: Data,
): Unit =>
  scope(function* () {
    const registry = yield* bind(spentBy(inputsOf(transaction), reference))
    const action = yield* bind(constructorOf(redeemer))
    const context: ChangeContext = {
      parameters,
      transaction,
      registry,
      argument: at(fieldsOf(redeemer), 0),
      approach: at(fieldsOf(redeemer), 1),
    }
    return branch(
      action,
      [RegistryAction.register, register(book, context)],
      [RegistryAction.retire, retire(book, context)],
      [RegistryAction.release, release(book, context)],
      [RegistryAction.slash, slash(book, context)],
      [RegistryAction['set-queue'], setQueue(book, context)],
      [
        RegistryAction.deinit,
        book.enforce({ 'registry-spend-under-policy': mintsUnderGuardOf(transaction, registry) }),
      ],
    )
  })
