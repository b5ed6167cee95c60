import type { PData, PList } from '@harmoniclabs/plu-ts'
import { ActiveOperator, Registry, RetiredOperator } from '../../layout.js'
import {
  addInteger,
  equalsData,
  headList,
  iData,
  lessThanEqualsInteger,
  lessThanInteger,
  listOf,
  nullList,
  prepend,
  subtractInteger,
  tailList,
  unIData,
  unListData,
} from '../core/builtins.js'
import {
  datumOf,
  inputsOf,
  lovelaceOf,
  outputsOf,
  paymentCredentialOf,
  signatoriesOf,
  spentAt,
  validFromOf,
  validToOf,
} from '../core/context.js'
import { any, at, constr, fieldsOf, find, lengthOf, not } from '../core/data.js'
import { carriedRules } from '../core/output-rules.js'
import type { RuleBook, Rules } from '../core/rules.js'
import {
  type Bool,
  choose,
  type Data,
  type Int,
  keep,
  type List,
  naming,
  recursive,
  type Unit,
} from '../core/term.js'
import { type ChangeStep, registryDatum } from './registry.js'

/** Adds an operator, who leaves the bond with the registry. */
export const register = (book: RuleBook, step: ChangeStep): Unit =>
  naming(function* () {
    const { parameters, registry, operator } = step
    const { active, retired } = yield* operatorsOf(registry)
    const bond = unIData(parameters.bond)
    return book.enforce({
      ...changeRules('register', step),
      'register-unknown': not(any(active, isOf(operator))),
      'register-not-retired': not(any(retired, isOf(operator))),
      'register-room': lessThanInteger(
        addInteger(lengthOf(active), lengthOf(retired)),
        unIData(parameters.maxOperators),
      ),
      ...carried(
        'register',
        step,
        prepend(constr(0, operator, parameters.bond), active),
        retired,
        addInteger(lovelaceOf(registry), bond),
      ),
    })
  })

/** Takes an operator out of the turns; the bond stays until no block of theirs can be in the queue. */
export const retire = (book: RuleBook, step: ChangeStep): Unit =>
  naming(function* () {
    const { parameters, transaction, registry, operator } = step
    const { active, retired } = yield* operatorsOf(registry)
    const bond = at(fieldsOf(find(active, isOf(operator))), ActiveOperator.bond)
    const releaseTime = addInteger(validToOf(transaction), unIData(parameters.releaseDelay))
    return book.enforce({
      ...changeRules('retire', step),
      ...carried(
        'retire',
        step,
        without(active, operator),
        prepend(constr(0, operator, bond, iData(releaseTime)), retired),
        lovelaceOf(registry),
      ),
    })
  })

/** Gives a retired operator the bond back. */
export const release = (book: RuleBook, step: ChangeStep): Unit =>
  naming(function* () {
    const { transaction, registry, operator } = step
    const { active, retired } = yield* operatorsOf(registry)
    const entry = yield* keep(fieldsOf(find(retired, isOf(operator))))
    return book.enforce({
      ...changeRules('release', step),
      'release-time': lessThanEqualsInteger(
        unIData(at(entry, RetiredOperator.releaseTime)),
        validFromOf(transaction),
      ),
      ...carried(
        'release',
        step,
        active,
        without(retired, operator),
        subtractInteger(lovelaceOf(registry), unIData(at(entry, RetiredOperator.bond))),
      ),
    })
  })

function* operatorsOf(registry: Data) {
  const fields = yield* keep(fieldsOf(datumOf(registry)))
  const active = yield* keep(unListData(at(fields, Registry.active)))
  const retired = yield* keep(unListData(at(fields, Registry.retired)))
  return { active, retired }
}

/** Whether an entry, active or retired, is the operator's: the key comes first in both. */
const isOf =
  (operator: Data) =>
  (entry: Data): Bool =>
    equalsData(at(fieldsOf(entry), ActiveOperator.vkey), operator)

const without = (entries: List, operator: Data): List =>
  recursive<PList<PData>, PList<PData>>((self, rest) =>
    choose(
      nullList(rest),
      listOf(),
      choose(isOf(operator)(headList(rest)), tailList(rest), prepend(headList(rest), self(tailList(rest)))),
    ),
  )(entries)

/** What holds of every change: one registry, and the operator's own will. */
const changeRules = (name: string, { transaction, registry, operator }: ChangeStep): Rules => ({
  [`${name}-spends-one`]: nullList(tailList(spentAt(inputsOf(transaction), paymentCredentialOf(registry)))),
  [`${name}-signed`]: any(signatoriesOf(transaction), (key) => equalsData(key, operator)),
})

const carried = (
  name: string,
  { transaction, registry }: ChangeStep,
  active: List,
  retired: List,
  leastAda: Int,
): Rules =>
  carriedRules(
    `${name}-carries`,
    headList(outputsOf(transaction)),
    registry,
    registryDatum(active, retired),
    leastAda,
  )
