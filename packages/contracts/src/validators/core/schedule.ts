import type { PData, PList } from '@harmoniclabs/plu-ts'
import { Operator } from '../../layout.js'
import {
  addInteger,
  divideInteger,
  equalsData,
  headList,
  integer,
  lessThanEqualsInteger,
  lessThanInteger,
  listOf,
  modInteger,
  multiplyInteger,
  nullList,
  prepend,
  subtractInteger,
  tailList,
  unIData,
} from './builtins.js'
import { validFromOf, validToOf } from './context.js'
import { at, both, either, fieldsOf, isNone, isTrue, itemAt, lengthOf, valueIn } from './data.js'
import { type Bool, bind, choose, type Data, type Int, type List, recursive, scope } from './term.js'

/*
 * Operators take turns of equal length, counted from POSIX time zero, in the order of the registry. In a turn
 * count the operators whose time spans the turn's start: from `activeFrom` on, and before `activeUntil`.
 */

/** Whether an entry of the registry is the operator's. */
export const isOf =
  (operator: Data) =>
  (entry: Data): Bool =>
    equalsData(at(fieldsOf(entry), Operator.vkey), operator)

export const turnOf = (time: Int, turnLength: Int): Int => divideInteger(time, turnLength)

export const lastTurnOf = (transaction: List, turnLength: Int): Int =>
  turnOf(subtractInteger(validToOf(transaction), integer(1)), turnLength)

/** Bytes: the key hash of the operator in turn; fails if no operator counts. @param counting in this turn */
export const operatorInTurn = (turn: Int, counting: List): Data =>
  itemAt(counting, modInteger(turn, lengthOf(counting)))

/** The key hashes of the operators who count in the turn that starts at a time, in their order. */
export const countingAt = (start: Int, operators: List): List =>
  recursive<PList<PData>, PList<PData>>((self, rest) =>
    choose(
      nullList(rest),
      listOf(),
      scope(function* () {
        const entry = yield* bind(fieldsOf(headList(rest)))
        const others = yield* bind(self(tailList(rest)))
        const until = yield* bind(at(entry, Operator.activeUntil))
        return choose(
          both(
            lessThanEqualsInteger(unIData(at(entry, Operator.activeFrom)), start),
            either(isNone(until), lessThanInteger(start, unIData(valueIn(until)))),
          ),
          prepend(at(entry, Operator.vkey), others),
          others,
        )
      }),
    ),
  )(operators)

/**
 * When a change of the operators takes effect. While the queue runs: at the start of the turn after next,
 * counted from the last turn that the transaction can be included in, so that the turn in progress and the
 * next keep their operators. While it does not, there is no turn to lose: at the start of the turn of the
 * lower validity bound.
 */
export const effectiveTime = (running: Data, transaction: List, turnLength: Int): Int =>
  multiplyInteger(
    turnLength,
    choose(
      isTrue(running),
      addInteger(lastTurnOf(transaction, turnLength), integer(2)),
      turnOf(validFromOf(transaction), turnLength),
    ),
  )
