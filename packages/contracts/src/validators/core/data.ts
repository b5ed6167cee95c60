import type { PBool, PData, PInt, PLam, PList, PPair, Term } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  boolean,
  constrData,
  emptyConstr,
  equalsData,
  equalsInteger,
  fail,
  fstPair,
  headList,
  integer,
  lengthOfByteString,
  lessThanEqualsInteger,
  lessThanInteger,
  listOf,
  nullList,
  sndPair,
  subtractInteger,
  tailList,
  unBData,
  unConstrData,
  unIData,
} from './builtins.js'
import {
  type Bool,
  call,
  choose,
  type Data,
  define,
  type Int,
  keep,
  type List,
  lambda,
  naming,
  recursive,
} from './term.js'

/** The fields of a constructor, whichever it is. */
export const fieldsOf = define((value: Data): List => sndPair(unConstrData(value)))
export const constructorOf = define((value: Data): Int => fstPair(unConstrData(value)))

/** The item at a place known when the script is compiled. */
export function at(items: List, index: number): Data {
  let rest = items
  for (let i = 0; i < index; i++) rest = tailList(rest)
  return headList(rest)
}

export const not = (condition: Bool): Bool => choose(condition, boolean(false), boolean(true))
export const both = (a: Bool, b: Bool): Bool => choose(a, b, boolean(false))
export const every = (...conditions: readonly Bool[]): Bool =>
  conditions.reduceRight((rest, each) => both(each, rest))

export const constr = (index: number, ...fields: readonly Data[]): Data =>
  fields.length === 0 ? emptyConstr(index) : constrData(integer(index), listOf(...fields))

export const some = (value: Data): Data => constr(0, value)
export const none = (): Data => emptyConstr(1)

/** Whether a constructor is the one of this index and has this many fields. */
export const hasShape = (value: Data, index: number, size: number): Bool =>
  both(
    equalsInteger(constructorOf(value), integer(index)),
    equalsInteger(lengthOf(fieldsOf(value)), integer(size)),
  )

export const isBytesOf = (value: Data, length: number): Bool =>
  equalsInteger(lengthOfByteString(unBData(value)), integer(length))

/** A natural number below 2^32: what a datum holds must not grow beyond what later transactions can carry. */
export const isSmall = define(
  (value: Data): Bool =>
    naming(function* () {
      const number = yield* keep(unIData(value))
      return both(lessThanEqualsInteger(integer(0), number), lessThanInteger(number, integer(2n ** 32n)))
    }),
)

export const lengthOf = recursive<PList<PData>, PInt>((self, items) =>
  choose(nullList(items), integer(0), addInteger(integer(1), self(tailList(items)))),
)

/** Whether a condition holds for an item of a list, or of a map. */
export const any = <T extends PData | PPair<PData, PData>>(
  items: Term<PList<T>>,
  condition: (item: Term<T>) => Bool,
): Bool =>
  recursive<PList<T>, PBool>((self, rest) =>
    choose(
      nullList(rest),
      boolean(false),
      choose(condition(headList(rest)), boolean(true), self(tailList(rest))),
    ),
  )(items)

export const includes = (items: List, item: Data): Bool => any(items, (each) => equalsData(each, item))

/** The first item that a condition holds for; fails where there is none. */
export const find = (items: List, condition: (item: Data) => Bool): Data =>
  recursive<PList<PData>, PData>((self, rest) =>
    choose(
      nullList(rest),
      fail(),
      naming(function* () {
        const item = yield* keep(headList(rest))
        return choose(condition(item), item, self(tailList(rest)))
      }),
    ),
  )(items)

/** The item at a place that the script works out; fails beyond the end. */
export const itemAt = (items: List, index: Int): Data =>
  call(
    recursive<PInt, PLam<PList<PData>, PData>>((self, left) =>
      lambda((rest) =>
        choose(
          equalsInteger(left, integer(0)),
          headList(rest),
          call(self(subtractInteger(left, integer(1))), tailList(rest)),
        ),
      ),
    )(index),
    items,
  )
