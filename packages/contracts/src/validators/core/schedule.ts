import type { PData, PList } from '@harmoniclabs/plu-ts'
import { Operator } from '../../layout.js'
import { validFromOf, validToOf } from './context.js'
import { at, both, either, fieldsOf, isNone, isTrue, itemAt, lengthOf, valueIn } from './data.js'
import * as p from './term.js'

/*
 * Operators take turns of equal length, counted from POSIX time zero, in the order of the registry. In a turn
 * count the operators whose time spans the turn's start: from `activeFrom` on, and before `activeUntil`.
 */

/** Whether an entry of the registry is the operator's. */
export const isOf =
  (operator: p.Data) =>
  (entry: p.Data): p.Bool =>
    p.equalsData(at(fieldsOf(entry), Operator.vkey), operator)

export const turnOf = (time: p.Int, turnLength: p.Int): p.Int => p.divideInteger(time, turnLength)

export const lastTurnOf = (transaction: p.List, turnLength: p.Int): p.Int =>
  turnOf(p.subtractInteger(validToOf(transaction), p.integer(1)), turnLength)

/** Bytes: the key hash of the operator in turn; fails if no operator counts. @param counting in this turn */
export const operatorInTurn = (turn: p.Int, counting: p.List): p.Data =>
  itemAt(counting, p.modInteger(turn, lengthOf(counting)))

/** The key hashes of the operators who count in the turn that starts at a time, in their order. */
export const countingAt = (start: p.Int, operators: p.List): p.List =>
  p.recursive<PList<PData>, PList<PData>>((self, rest) =>
    p.choose(
      p.nullList(rest),
      p.listOf(),
      p.scope(function* () {
        const entry = yield* p.bind(fieldsOf(p.headList(rest)))
        const others = yield* p.bind(self(p.tailList(rest)))
        const until = yield* p.bind(at(entry, Operator.activeUntil))
        return p.choose(
          both(
            p.lessThanEqualsInteger(p.unIData(at(entry, Operator.activeFrom)), start),
            either(isNone(until), p.lessThanInteger(start, p.unIData(valueIn(until)))),
          ),
          p.prepend(at(entry, Operator.vkey), others),
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
export const effectiveTime = (running: p.Data, transaction: p.List, turnLength: p.Int): p.Int =>
  p.multiplyInteger(
    turnLength,
    p.choose(
      isTrue(running),
      p.addInteger(lastTurnOf(transaction, turnLength), p.integer(2)),
      turnOf(validFromOf(transaction), turnLength),
    ),
  )
