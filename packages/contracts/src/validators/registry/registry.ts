import { hashLength } from '@ratatosk/block'
import { Approach, Operator, QueueAction, Registry, RegistryAction } from '../../layout.js'
import { authorises, isRenounced } from '../core/authority.js'
import {
  addInteger,
  equalsData,
  equalsInteger,
  headList,
  integer,
  listOf,
  mapOf,
  subtractInteger,
  unBData,
  unIData,
} from '../core/builtins.js'
import {
  datumOf,
  inputHolding,
  inputsOf,
  lookUp,
  lovelaceOf,
  mintedQuantity,
  mintOf,
  mintsUnderGuardOf,
  oneToken,
  outputsOf,
  Purpose,
  redeemerOf,
  redeemersOf,
  referenceOf,
  resolvedOf,
  scriptCredential,
  scriptInfoOf,
  spentBy,
  transactionOf,
} from '../core/context.js'
import {
  any,
  at,
  boolData,
  both,
  branch,
  constr,
  constructorOf,
  either,
  fieldsOf,
  find,
  isBytesOf,
  isNone,
  isTrue,
  none,
  not,
} from '../core/data.js'
import { outputRules } from '../core/output-rules.js'
import type { RuleBook } from '../core/rules.js'
import { isOf } from '../core/schedule.js'
import { bind, choose, type Data, type List, scope, type Unit } from '../core/term.js'
import {
  type ChangeContext,
  continues,
  fieldsOfRegistry,
  type MintContext,
  type RegistryParameters,
  registryDatum,
} from './context.js'
import { changed, register, release, retire } from './operators.js'

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

/**
 * Starts the registry: mints its token and pays it to the script's address as output 0. It spends the
 * deployment output, so it happens once: under one policy there is never more than one token. It names the
 * queue permanently.
 *
 * If the administrator is renounced, the owner of the deployment output starts the queue in the same
 * transaction, because it cannot be started later.
 */
const init = (book: RuleBook, { transaction, policy, minted, parameters }: MintContext): Unit =>
  scope(function* () {
    const { administrator, tokenName, rootName, deploymentOutput } = parameters
    const token = yield* bind(oneToken(policy, unBData(tokenName), integer(1)))
    const renounced = yield* bind(isRenounced(administrator))
    const output = yield* bind(headList(outputsOf(transaction)))
    const queue = yield* bind(at(fieldsOf(datumOf(output)), Registry.queue))
    return book.enforce({
      'registry-init-spends-deployment-output': any(inputsOf(transaction), (input) =>
        equalsData(referenceOf(input), deploymentOutput),
      ),
      'registry-init-by-administrator': either(renounced, authorises(administrator, transaction)),
      'registry-init-mints-token-only': equalsData(minted, token),
      'registry-init-names-queue': isBytesOf(queue, hashLength),
      'registry-init-starts-queue': either(
        not(renounced),
        equalsInteger(mintedQuantity(transaction, queue, rootName), integer(1)),
      ),
      ...outputRules('registry-init', output, {
        address: constr(0, scriptCredential(policy), none()),
        tokens: token,
        datum: registryDatum(listOf(), queue, choose(renounced, boolData(true), boolData(false))),
      }),
    })
  })

/** Ends a registry that has no operator, and so holds no bond, and whose queue does not run. */
const deinit = (book: RuleBook, { transaction, policy, minted, parameters }: MintContext): Unit =>
  scope(function* () {
    const registry = inputHolding(inputsOf(transaction), policy)
    const datum = yield* bind(datumOf(resolvedOf(registry)))
    return book.enforce({
      'registry-deinit-by-administrator': authorises(parameters.administrator, transaction),
      'registry-deinit-burns-token-only': equalsData(
        minted,
        oneToken(policy, unBData(parameters.tokenName), integer(-1)),
      ),
      'registry-deinit-empty': equalsData(
        datum,
        registryDatum(listOf(), at(fieldsOf(datum), Registry.queue), boolData(false)),
      ),
    })
  })

/**
 * Notes that the queue starts or ends in the same transaction. The registry names one queue for ever, because
 * that queue's removals slash operators; it runs exactly while its root exists.
 */
const setQueue = (book: RuleBook, context: ChangeContext): Unit =>
  scope(function* () {
    const { parameters, transaction, registry, argument } = context
    const { operators, queue, running } = yield* fieldsOfRegistry(registry)
    const starts = yield* bind(isTrue(argument))
    const after = choose(starts, boolData(true), boolData(false))
    return book.enforce({
      'set-queue-by-administrator': authorises(parameters.administrator, transaction),
      'set-queue-changes': choose(starts, not(isTrue(running)), isTrue(running)),
      'set-queue-with-root': equalsInteger(
        mintedQuantity(transaction, queue, parameters.rootName),
        choose(starts, integer(1), integer(-1)),
      ),
      ...continues('set-queue', context, registryDatum(operators, queue, after), lovelaceOf(registry)),
    })
  })

/**
 * Deletes an operator whose invalid block the queue removes in the same transaction, and pays out the bond
 * but for the penalty. The registry is paid back as output 1, behind the element of the queue.
 *
 * The queue asks for the verdict, and that the slashed operator is the block's. Its policy mints a block's
 * token only for a header that its operator signed, and the registry names one queue permanently.
 */
const slash = (book: RuleBook, context: ChangeContext): Unit =>
  scope(function* () {
    const { parameters, transaction, registry, argument: operator } = context
    const { operators, queue, running } = yield* fieldsOfRegistry(registry)
    const approach = yield* bind(context.approach)
    const entry = yield* bind(fieldsOf(find(operators, isOf(operator))))
    const action = lookUp(redeemersOf(transaction), constr(Purpose.minting, queue))
    return book.enforce({
      'slash-by-removal': both(
        equalsInteger(constructorOf(action), integer(QueueAction.remove)),
        equalsData(at(fieldsOf(action), 1), approach),
      ),
      'slash-approach': equalsData(
        approach,
        choose(isNone(at(entry, Operator.activeUntil)), constr(Approach.active), constr(Approach.retired)),
      ),
      ...continues(
        'slash',
        context,
        registryDatum(
          changed(operators, operator, (rest) => rest),
          queue,
          running,
        ),
        addInteger(
          subtractInteger(lovelaceOf(registry), unIData(at(entry, Operator.bond))),
          unIData(parameters.slashPenalty),
        ),
        1,
      ),
    })
  })
