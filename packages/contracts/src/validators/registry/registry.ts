import type { PData, PInt, PList } from '@harmoniclabs/plu-ts'
import { hashLength } from '@ratatosk/block'
import { Approach, Operator, QueueAction, Registry, RegistryAction } from '../../layout.js'
import {
  authorises,
  datumOf,
  inputHolding,
  inputsOf,
  isRenounced,
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
  signatoriesOf,
  spentBy,
  transactionOf,
  validFromOf,
  validToOf,
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
  includes,
  isBytesOf,
  isNone,
  isTrue,
  lengthOf,
  none,
  not,
  some,
  valueIn,
} from '../core/data.js'
import { continuingOutputRules, outputRules, type RuleBook, type Rules } from '../core/rules.js'
import { effectiveTime, isOf } from '../core/schedule.js'
import * as p from '../core/term.js'

/** The parameters of the registry's script, as data, in the blueprint's order. */
interface RegistryParameters {
  /** Bytes: asset name of the registry's token. */
  readonly tokenName: p.Data
  /** Bytes: asset name of a queue's root. */
  readonly rootName: p.Data
  /** `Credential` of the administrator: a verification key or a script. */
  readonly administrator: p.Data
  /** `OutputReference` that init must spend. */
  readonly deploymentOutput: p.Data
  /** `Bool`: whether the administrator decides who registers. */
  readonly permissioned: p.Data
  /** Integer: lovelace that an operator deposits. */
  readonly bond: p.Data
  /** Integer: length of an operator's turn in milliseconds. */
  readonly turnLength: p.Data
  /** Integer: milliseconds from the end of an operator's last turn until the bond may be withdrawn. */
  readonly releaseDelay: p.Data
  /** Integer: upper bound on operators who have not retired. */
  readonly maxOperators: p.Data
  /** Integer: lovelace of a slashed operator's bond that stays in the registry. */
  readonly slashPenalty: p.Data
}

/** The facts that the rules of minting and burning the registry's token read. */
interface MintContext {
  readonly parameters: RegistryParameters
  /** The fields of `TxInfo`. */
  readonly transaction: p.List
  /** Bytes: the script's own hash. */
  readonly policy: p.Data
  /** The quantities minted and burned under `policy`, as a value of that policy alone. */
  readonly minted: p.Data
}

interface ChangeContext {
  readonly parameters: RegistryParameters
  /** The fields of `TxInfo`. */
  readonly transaction: p.List
  readonly registry: p.Data
  /** The first field of the redeemer: an operator's key hash, or whether the queue is to run. */
  readonly argument: p.Data
  /** The second field of the redeemer; reading it fails where there is none. */
  readonly approach: p.Data
}

const registryDatum = (operators: p.List, queue: p.Data, running: p.Data): p.Data =>
  constr(0, p.listData(operators), queue, running)

function* fieldsOfRegistry(registry: p.Data) {
  const fields = yield* p.bind(fieldsOf(datumOf(registry)))
  const operators = yield* p.bind(p.unListData(at(fields, Registry.operators)))
  const queue = yield* p.bind(at(fields, Registry.queue))
  const running = yield* p.bind(at(fields, Registry.running))
  return { operators, queue, running }
}

/** The rules on the registry that a change pays back, by the output's place. */
const continues = (
  name: string,
  { transaction, registry }: ChangeContext,
  datum: p.Data,
  leastAda: p.Int,
  place = 0,
): Rules =>
  continuingOutputRules(`${name}-continues`, at(outputsOf(transaction), place), registry, datum, leastAda)

/**
 * The operator registry: one script that is both minting policy and spending validator. One output holds its
 * token, the bonds and, as its datum, the operators. The state queue reads it as a reference input.
 */
export const operatorRegistry = (book: RuleBook, parameters: RegistryParameters, context: p.Data): p.Unit =>
  p.scope(function* () {
    const transaction = yield* p.bind(transactionOf(context))
    const info = yield* p.bind(scriptInfoOf(context))
    const purpose = yield* p.bind(constructorOf(info))
    const redeemer = yield* p.bind(redeemerOf(context))
    return branch(
      purpose,
      [Purpose.minting, mint(book, parameters, transaction, at(fieldsOf(info), 0), redeemer)],
      [Purpose.spending, spend(book, parameters, transaction, at(fieldsOf(info), 0), redeemer)],
    )
  })

const mint = (
  book: RuleBook,
  parameters: RegistryParameters,
  transaction: p.List,
  own: p.Data,
  redeemer: p.Data,
): p.Unit =>
  p.scope(function* () {
    const policy = yield* p.bind(own)
    const minted = yield* p.bind(p.mapOf(policy, lookUp(mintOf(transaction), policy)))
    const action = yield* p.bind(constructorOf(redeemer))
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
  transaction: p.List,
  reference: p.Data,
  redeemer: p.Data,
): p.Unit =>
  p.scope(function* () {
    const registry = yield* p.bind(spentBy(inputsOf(transaction), reference))
    const action = yield* p.bind(constructorOf(redeemer))
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
const init = (book: RuleBook, { transaction, policy, minted, parameters }: MintContext): p.Unit =>
  p.scope(function* () {
    const { administrator, tokenName, rootName, deploymentOutput } = parameters
    const token = yield* p.bind(oneToken(policy, p.unBData(tokenName), p.integer(1)))
    const renounced = yield* p.bind(isRenounced(administrator))
    const output = yield* p.bind(p.headList(outputsOf(transaction)))
    const queue = yield* p.bind(at(fieldsOf(datumOf(output)), Registry.queue))
    return book.enforce({
      'registry-init-spends-deployment-output': any(inputsOf(transaction), (input) =>
        p.equalsData(referenceOf(input), deploymentOutput),
      ),
      'registry-init-by-administrator': either(renounced, authorises(administrator, transaction)),
      'registry-init-mints-token-only': p.equalsData(minted, token),
      'registry-init-names-queue': isBytesOf(queue, hashLength),
      'registry-init-starts-queue': either(
        not(renounced),
        p.equalsInteger(mintedQuantity(transaction, queue, rootName), p.integer(1)),
      ),
      ...outputRules('registry-init', output, {
        address: constr(0, scriptCredential(policy), none()),
        tokens: token,
        datum: registryDatum(p.listOf(), queue, p.choose(renounced, boolData(true), boolData(false))),
      }),
    })
  })

/** Ends a registry that has no operator, and so holds no bond, and whose queue does not run. */
const deinit = (book: RuleBook, { transaction, policy, minted, parameters }: MintContext): p.Unit =>
  p.scope(function* () {
    const registry = inputHolding(inputsOf(transaction), policy)
    const datum = yield* p.bind(datumOf(resolvedOf(registry)))
    return book.enforce({
      'registry-deinit-by-administrator': authorises(parameters.administrator, transaction),
      'registry-deinit-burns-token-only': p.equalsData(
        minted,
        oneToken(policy, p.unBData(parameters.tokenName), p.integer(-1)),
      ),
      'registry-deinit-empty': p.equalsData(
        datum,
        registryDatum(p.listOf(), at(fieldsOf(datum), Registry.queue), boolData(false)),
      ),
    })
  })

/**
 * Notes that the queue starts or ends in the same transaction. The registry names one queue for ever, because
 * that queue's removals slash operators; it runs exactly while its root exists.
 */
const setQueue = (book: RuleBook, context: ChangeContext): p.Unit =>
  p.scope(function* () {
    const { parameters, transaction, registry, argument } = context
    const { operators, queue, running } = yield* fieldsOfRegistry(registry)
    const starts = yield* p.bind(isTrue(argument))
    const after = p.choose(starts, boolData(true), boolData(false))
    return book.enforce({
      'set-queue-by-administrator': authorises(parameters.administrator, transaction),
      'set-queue-changes': p.choose(starts, not(isTrue(running)), isTrue(running)),
      'set-queue-with-root': p.equalsInteger(
        mintedQuantity(transaction, queue, parameters.rootName),
        p.choose(starts, p.integer(1), p.integer(-1)),
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
const slash = (book: RuleBook, context: ChangeContext): p.Unit =>
  p.scope(function* () {
    const { parameters, transaction, registry, argument: operator } = context
    const { operators, queue, running } = yield* fieldsOfRegistry(registry)
    const approach = yield* p.bind(context.approach)
    const entry = yield* p.bind(fieldsOf(find(operators, isOf(operator))))
    const action = lookUp(redeemersOf(transaction), constr(Purpose.minting, queue))
    return book.enforce({
      'slash-by-removal': both(
        p.equalsInteger(constructorOf(action), p.integer(QueueAction.remove)),
        p.equalsData(at(fieldsOf(action), 1), approach),
      ),
      'slash-approach': p.equalsData(
        approach,
        p.choose(isNone(at(entry, Operator.activeUntil)), constr(Approach.active), constr(Approach.retired)),
      ),
      ...continues(
        'slash',
        context,
        registryDatum(
          changed(operators, operator, (rest) => rest),
          queue,
          running,
        ),
        p.addInteger(
          p.subtractInteger(lovelaceOf(registry), p.unIData(at(entry, Operator.bond))),
          p.unIData(parameters.slashPenalty),
        ),
        1,
      ),
    })
  })

/** Adds an operator, who deposits the bond. */
const register = (book: RuleBook, context: ChangeContext): p.Unit =>
  p.scope(function* () {
    const { parameters, transaction, registry, argument: operator } = context
    const { operators, queue, running } = yield* fieldsOfRegistry(registry)
    const { permissioned, administrator, bond, turnLength } = parameters
    const maximum = yield* p.bind(p.unIData(parameters.maxOperators))
    const activeFrom = effectiveTime(running, transaction, p.unIData(turnLength))
    return book.enforce({
      'register-signed-by-operator': includes(signatoriesOf(transaction), operator),
      'register-by-administrator': either(not(isTrue(permissioned)), authorises(administrator, transaction)),
      'register-once': not(any(operators, isOf(operator))),
      'register-below-maximum': p.lessThanInteger(unretired(operators), maximum),
      'register-datum-bounded': p.lessThanInteger(lengthOf(operators), p.addInteger(maximum, maximum)),
      ...continues(
        'register',
        context,
        registryDatum(
          p.prepend(constr(0, operator, bond, p.iData(activeFrom), none()), operators),
          queue,
          running,
        ),
        p.addInteger(lovelaceOf(registry), p.unIData(bond)),
      ),
    })
  })

/** Ends an operator's turns. The bond stays locked until no block of the operator can be in the queue. */
const retire = (book: RuleBook, context: ChangeContext): p.Unit =>
  p.scope(function* () {
    const { parameters, transaction, registry, argument: operator } = context
    const { operators, queue, running } = yield* fieldsOfRegistry(registry)
    const { permissioned, administrator } = parameters
    const turnLength = yield* p.bind(p.unIData(parameters.turnLength))
    const entry = yield* p.bind(fieldsOf(find(operators, isOf(operator))))
    const activeUntil = effectiveTime(running, transaction, turnLength)
    const retired = constr(
      0,
      operator,
      at(entry, Operator.bond),
      at(entry, Operator.activeFrom),
      some(p.iData(activeUntil)),
    )
    return book.enforce({
      'retire-by-operator-or-administrator': either(
        includes(signatoriesOf(transaction), operator),
        both(isTrue(permissioned), authorises(administrator, transaction)),
      ),
      'retire-once': isNone(at(entry, Operator.activeUntil)),
      'retire-soon': p.lessThanEqualsInteger(
        p.subtractInteger(validToOf(transaction), validFromOf(transaction)),
        turnLength,
      ),
      ...continues(
        'retire',
        context,
        registryDatum(
          changed(operators, operator, (rest) => p.prepend(retired, rest)),
          queue,
          running,
        ),
        lovelaceOf(registry),
      ),
    })
  })

const release = (book: RuleBook, context: ChangeContext): p.Unit =>
  p.scope(function* () {
    const { parameters, transaction, registry, argument: operator } = context
    const { operators, queue, running } = yield* fieldsOfRegistry(registry)
    const entry = yield* p.bind(fieldsOf(find(operators, isOf(operator))))
    return book.enforce({
      'release-signed-by-operator': includes(signatoriesOf(transaction), operator),
      'release-not-early': p.lessThanEqualsInteger(
        p.addInteger(p.unIData(valueIn(at(entry, Operator.activeUntil))), p.unIData(parameters.releaseDelay)),
        validFromOf(transaction),
      ),
      ...continues(
        'release',
        context,
        registryDatum(
          changed(operators, operator, (rest) => rest),
          queue,
          running,
        ),
        p.subtractInteger(lovelaceOf(registry), p.unIData(at(entry, Operator.bond))),
      ),
    })
  })

/** How many operators have not retired. */
const unretired = (operators: p.List): p.Int =>
  p.recursive<PList<PData>, PInt>((self, rest) =>
    p.choose(
      p.nullList(rest),
      p.integer(0),
      p.scope(function* () {
        const others = yield* p.bind(self(p.tailList(rest)))
        return p.choose(
          isNone(at(fieldsOf(p.headList(rest)), Operator.activeUntil)),
          p.addInteger(p.integer(1), others),
          others,
        )
      }),
    ),
  )(operators)

/** The operators with the entry of one of them replaced: `replace` takes the entries behind it. */
const changed = (operators: p.List, operator: p.Data, replace: (behind: p.List) => p.List): p.List =>
  p.recursive<PList<PData>, PList<PData>>((self, rest) =>
    p.choose(
      p.nullList(rest),
      p.listOf(),
      p.choose(
        isOf(operator)(p.headList(rest)),
        replace(p.tailList(rest)),
        p.prepend(p.headList(rest), self(p.tailList(rest))),
      ),
    ),
  )(operators)
