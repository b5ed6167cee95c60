import { RegistryAction } from '../../layout.js'
import { equalsInteger, fail, integer, listData, listOf, mapOf } from '../core/builtins.js'
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
import { at, constr, constructorOf, fieldsOf } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import { choose, type Data, keep, type List, naming, type Unit } from '../core/term.js'
import { deinit, init } from './life.js'
import { register, release, retire } from './operators.js'

/** What the registry's script is applied to before it is a script: data, as the blueprint says. */
export interface RegistryParameters {
  /** Bytes: the asset name of the registry's token. */
  readonly tokenName: Data
  /** Bytes: the hash of the administrator's verification key. */
  readonly administrator: Data
  /** Integer: lovelace that an operator leaves with the registry. */
  readonly bond: Data
  /** Integer: milliseconds from an operator's retirement until the bond may be taken. */
  readonly releaseDelay: Data
  /** Integer: the most operators that may be active and retired at once, so that the datum stays small. */
  readonly maxOperators: Data
}

/** What minting is judged by. */
export interface MintStep {
  readonly parameters: RegistryParameters
  readonly transaction: List
  /** Bytes: the script's own hash. */
  readonly policy: Data
  /** What is minted and burned under the own policy, as a value of that policy alone. */
  readonly minted: Data
  /** The outputs that are spent at the script, whatever their staking part. */
  readonly spent: List
}

/** What a change of the operators is judged by. */
export interface ChangeStep {
  readonly parameters: RegistryParameters
  readonly transaction: List
  /** The registry's output that is spent. */
  readonly registry: Data
  /** Data of the operator's key hash, as the redeemer names it. */
  readonly operator: Data
}

export const registryDatum = (active: List, retired: List): Data =>
  constr(0, listData(active), listData(retired))

export const emptyRegistry = (): Data => registryDatum(listOf(), listOf())

/**
 * The operator registry: one script that is policy and validator. One output holds its token, the bonds, and as its datum
 * the operators; the state queue reads it as a reference input.
 */
export const operatorRegistry = (book: RuleBook, parameters: RegistryParameters, context: Data): Unit =>
  naming(function* () {
    const transaction = yield* keep(transactionOf(context))
    const info = yield* keep(scriptInfoOf(context))
    const purpose = yield* keep(constructorOf(info))
    const redeemer = yield* keep(redeemerOf(context))
    return choose(
      equalsInteger(purpose, integer(0)),
      mint(book, parameters, transaction, at(fieldsOf(info), 0), redeemer),
      choose(
        equalsInteger(purpose, integer(1)),
        spend(book, parameters, transaction, at(fieldsOf(info), 0), redeemer),
        fail(),
      ),
    )
  })

const mint = (
  book: RuleBook,
  parameters: RegistryParameters,
  transaction: List,
  own: Data,
  redeemer: Data,
): Unit =>
  naming(function* () {
    const policy = yield* keep(own)
    const minted = yield* keep(mapOf(policy, lookUp(mintOf(transaction), policy)))
    const spent = yield* keep(spentAt(inputsOf(transaction), scriptCredential(policy)))
    const action = yield* keep(constructorOf(redeemer))
    const step: MintStep = { parameters, transaction, policy, minted, spent }
    return choose(
      equalsInteger(action, integer(RegistryAction.init)),
      init(book, step),
      choose(equalsInteger(action, integer(RegistryAction.deinit)), deinit(book, step), fail()),
    )
  })

const spend = (
  book: RuleBook,
  parameters: RegistryParameters,
  transaction: List,
  reference: Data,
  redeemer: Data,
): Unit =>
  naming(function* () {
    const registry = yield* keep(spentBy(inputsOf(transaction), reference))
    const action = yield* keep(constructorOf(redeemer))
    const step: ChangeStep = { parameters, transaction, registry, operator: at(fieldsOf(redeemer), 0) }
    return choose(
      equalsInteger(action, integer(RegistryAction.register)),
      register(book, step),
      choose(
        equalsInteger(action, integer(RegistryAction.retire)),
        retire(book, step),
        choose(
          equalsInteger(action, integer(RegistryAction.release)),
          release(book, step),
          // Slashing comes with fraud proofs; until then its place is kept, and it fails like what does not exist.
          choose(
            equalsInteger(action, integer(RegistryAction.deinit)),
            book.enforce({ 'registry-spend-by-policy': mintsUnderGuardOf(transaction, registry) }),
            fail(),
          ),
        ),
      ),
    )
  })
