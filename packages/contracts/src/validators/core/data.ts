import type { PBool, PData, PInt, PLam, PList, PPair, PType, Term } from '@harmoniclabs/plu-ts'
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
  modInteger,
  sndPair,
  subtractInteger,
  tailList,
  unBData,
  unConstrData,
  unIData,
} from './builtins.js'
import {
  type Bool,
  bind,
  call,
  choose,
  choosing,
  type Data,
  define,
  defineOf,
  type Int,
  type List,
  lambda,
  recursive,
  scope,
  uncons,
} from './term.js'

export const fieldsOf = define((value: Data): List => sndPair(unConstrData(value)))
export const constructorOf = define((value: Data): Int => fstPair(unConstrData(value)))

/** The item at an index known at compile time. */
export function at(items: List, index: number): Data {
  let rest = items
  for (let i = 0; i < index; i++) rest = tailList(rest)
  return headList(rest)
}

export const not = (condition: Bool): Bool => choose(condition, boolean(false), boolean(true))
export const either = (a: Bool, b: Bool): Bool => choose(a, boolean(true), b)
export const both = (a: Bool, b: Bool): Bool => choose(a, b, boolean(false))
export const every = (...conditions: readonly Bool[]): Bool =>
  conditions.reduceRight((rest, each) => both(each, rest))

export const constr = (index: number, ...fields: readonly Data[]): Data =>
  fields.length === 0 ? emptyConstr(index) : constrData(integer(index), listOf(...fields))

export const some = (value: Data): Data => constr(0, value)
export const none = (): Data => emptyConstr(1)
export const isNone = (option: Data): Bool => equalsInteger(constructorOf(option), integer(1))
/** The value in an option; fails for `none`. */
export const valueIn = (option: Data): Data => headList(fieldsOf(option))
/** A Plutus `Bool`, as data. */
export const boolData = (value: boolean): Data => emptyConstr(value ? 1 : 0)
/** Whether data is the Plutus `Bool` true. */
export const isTrue = (value: Data): Bool => equalsInteger(constructorOf(value), integer(1))

/** Whether data is the constructor of this index with this many fields. */
export const hasShape = (value: Data, index: number, size: number): Bool =>
  both(
    equalsInteger(constructorOf(value), integer(index)),
    equalsInteger(lengthOf(fieldsOf(value)), integer(size)),
  )

export const isBytesOf = (value: Data, length: number): Bool =>
  equalsInteger(lengthOfByteString(unBData(value)), integer(length))

/** A number from 0 to 2^32 − 1. Bounded, because a datum must not outgrow later transactions. */
export const isSmall = define(
  (value: Data): Bool =>
    scope(function* () {
      const number = yield* bind(unIData(value))
      return both(lessThanEqualsInteger(integer(0), number), lessThanInteger(number, integer(2n ** 32n)))
    }),
)

export const lengthOf = define(
  recursive<PList<PData>, PInt>((self, items) =>
    uncons(items, integer(0), (_first, others) => addInteger(integer(1), self(others))),
  ),
)

/** Whether an item of a list or map satisfies a condition. */
export const any = <T extends PData | PPair<PData, PData>>(
  items: Term<PList<T>>,
  condition: (item: Term<T>) => Bool,
): Bool =>
  recursive<PList<T>, PBool>((self, rest) =>
    uncons(rest, boolean(false), (first, others) => choose(condition(first), boolean(true), self(others))),
  )(items)

export const includes = defineOf<[PList<PData>, PData], PBool>(
  2,
  (items: List, item: Data): Bool => any(items, (each) => equalsData(each, item)),
)

/** The first item that satisfies a condition; fails if none does. */
export const find = (items: List, condition: (item: Data) => Bool): Data =>
  recursive<PList<PData>, PData>((self, rest) =>
    uncons(rest, fail(), (item, others) => choose(condition(item), item, self(others))),
  )(items)

/** The items behind the first `count`; fails past the end, and for a negative count. */
export const itemsBehind = (items: List, count: Int): List =>
  call(
    recursive<PInt, PLam<PList<PData>, PList<PData>>>((self, left) =>
      lambda((rest) =>
        choose(
          equalsInteger(left, integer(0)),
          rest,
          call(self(subtractInteger(left, integer(1))), tailList(rest)),
        ),
      ),
    )(count),
    items,
  )

/** The item at a computed index; fails past the end. */
export const itemAt = (items: List, index: Int): Data => headList(itemsBehind(items, index))

/** `switch`: the branch with this index; fails if there is none. */
export const branch = <T extends PType>(
  index: Int,
  ...branches: readonly (readonly [index: number, term: Term<T>])[]
): Term<T> => {
  const dense = new Array<Term<T>>(1 + Math.max(...branches.map(([own]) => own))).fill(fail())
  for (const [own, term] of branches) dense[own] = term
  return choosing(index, ...dense)
}

const stride = 8

/** The items behind the first `count`, rounded down to a multiple of eight; fails past the end. */
export const skipAbout = (items: List, count: Int): List =>
  call(
    recursive<PInt, PLam<PList<PData>, PList<PData>>>((self, left) =>
      lambda((rest) =>
        choose(
          lessThanInteger(left, integer(stride)),
          rest,
          call(
            self(subtractInteger(left, integer(stride))),
            Array.from({ length: stride }).reduce<List>((list) => tailList(list), rest),
          ),
        ),
      ),
    )(count),
    items,
  )

/** The item at a computed index of a long list, eight steps at a time; fails past the end. */
export const farItemAt = (items: List, index: Int): Data =>
  scope(function* () {
    const place = yield* bind(index)
    return itemAt(skipAbout(items, place), modInteger(place, integer(stride)))
  })
