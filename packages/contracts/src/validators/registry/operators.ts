import type { PData, PInt, PList } from '@harmoniclabs/plu-ts'
import { Operator } from '../../layout.js'
import { authorises } from '../core/authority.js'
import {
  addInteger,
  headList,
  iData,
  integer,
  lessThanEqualsInteger,
  lessThanInteger,
  listOf,
  nullList,
  prepend,
  subtractInteger,
  tailList,
  unIData,
} from '../core/builtins.js'
import { lovelaceOf, signatoriesOf, validFromOf, validToOf } from '../core/context.js'
import {
  any,
  at,
  both,
  constr,
  either,
  fieldsOf,
  find,
  includes,
  isNone,
  isTrue,
  lengthOf,
  none,
  not,
  some,
  valueIn,
} from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import { effectiveTime, isOf } from '../core/schedule.js'
import { bind, choose, type Data, type Int, type List, recursive, scope, type Unit } from '../core/term.js'
import { type ChangeContext, continues, fieldsOfRegistry, registryDatum } from './context.js'

/** Adds an operator, who deposits the bond. */
export const register = (book: RuleBook, context: ChangeContext): Unit =>
  scope(function* () {
    const { parameters, transaction, registry, argument: operator } = context
    const { operators, queue, running } = yield* fieldsOfRegistry(registry)
    const { permissioned, administrator, bond, turnLength } = parameters
    const maximum = yield* bind(unIData(parameters.maxOperators))
    const activeFrom = effectiveTime(running, transaction, unIData(turnLength))
    return book.enforce({
      'register-signed-by-operator': includes(signatoriesOf(transaction), operator),
      'register-by-administrator': either(not(isTrue(permissioned)), authorises(administrator, transaction)),
      'register-once': not(any(operators, isOf(operator))),
      'register-below-maximum': lessThanInteger(unretired(operators), maximum),
      'register-datum-bounded': lessThanInteger(lengthOf(operators), addInteger(maximum, maximum)),
      ...continues(
        'register',
        context,
        registryDatum(
          prepend(constr(0, operator, bond, iData(activeFrom), none()), operators),
          queue,
          running,
        ),
        addInteger(lovelaceOf(registry), unIData(bond)),
      ),
    })
  })

/** Ends an operator's turns. The bond stays locked until no block of the operator can be in the queue. */
export const retire = (book: RuleBook, context: ChangeContext): Unit =>
  scope(function* () {
    const { parameters, transaction, registry, argument: operator } = context
    const { operators, queue, running } = yield* fieldsOfRegistry(registry)
    const { permissioned, administrator } = parameters
    const turnLength = yield* bind(unIData(parameters.turnLength))
    const entry = yield* bind(fieldsOf(find(operators, isOf(operator))))
    const activeUntil = effectiveTime(running, transaction, turnLength)
    const retired = constr(
      0,
      operator,
      at(entry, Operator.bond),
      at(entry, Operator.activeFrom),
      some(iData(activeUntil)),
    )
    return book.enforce({
      'retire-by-operator-or-administrator': either(
        includes(signatoriesOf(transaction), operator),
        both(isTrue(permissioned), authorises(administrator, transaction)),
      ),
      'retire-once': isNone(at(entry, Operator.activeUntil)),
      'retire-soon': lessThanEqualsInteger(
        subtractInteger(validToOf(transaction), validFromOf(transaction)),
        turnLength,
      ),
      ...continues(
        'retire',
        context,
        registryDatum(
          changed(operators, operator, (rest) => prepend(retired, rest)),
          queue,
          running,
        ),
        lovelaceOf(registry),
      ),
    })
  })

export const release = (book: RuleBook, context: ChangeContext): Unit =>
  scope(function* () {
    const { parameters, transaction, registry, argument: operator } = context
    const { operators, queue, running } = yield* fieldsOfRegistry(registry)
    const entry = yield* bind(fieldsOf(find(operators, isOf(operator))))
    return book.enforce({
      'release-signed-by-operator': includes(signatoriesOf(transaction), operator),
      'release-not-early': lessThanEqualsInteger(
        addInteger(unIData(valueIn(at(entry, Operator.activeUntil))), unIData(parameters.releaseDelay)),
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
        subtractInteger(lovelaceOf(registry), unIData(at(entry, Operator.bond))),
      ),
    })
  })

/** How many operators have not retired. */
const unretired = (operators: List): Int =>
  recursive<PList<PData>, PInt>((self, rest) =>
    choose(
      nullList(rest),
      integer(0),
      scope(function* () {
        const others = yield* bind(self(tailList(rest)))
        return choose(
          isNone(at(fieldsOf(headList(rest)), Operator.activeUntil)),
          addInteger(integer(1), others),
          others,
        )
      }),
    ),
  )(operators)

/** The operators with the entry of one of them replaced: `replace` takes the entries behind it. */
export const changed = (operators: List, operator: Data, replace: (behind: List) => List): List =>
  recursive<PList<PData>, PList<PData>>((self, rest) =>
    choose(
      nullList(rest),
      listOf(),
      choose(
        isOf(operator)(headList(rest)),
        replace(tailList(rest)),
        prepend(headList(rest), self(tailList(rest))),
      ),
    ),
  )(operators)
