import type { PBool, PData, PInt, PLam, PList, PPair, PType, Term } from '@harmoniclabs/plu-ts'
import * as p from './term.js'

export const fieldsOf = p.define((value: p.Data): p.List => p.sndPair(p.unConstrData(value)))
export const constructorOf = p.define((value: p.Data): p.Int => p.fstPair(p.unConstrData(value)))

/** The item at an index known at compile time. */
export function at(items: p.List, index: number): p.Data {
  let rest = items
  for (let i = 0; i < index; i++) rest = p.tailList(rest)
  return p.headList(rest)
}

export const not = (condition: p.Bool): p.Bool => p.choose(condition, p.boolean(false), p.boolean(true))
export const either = (a: p.Bool, b: p.Bool): p.Bool => p.choose(a, p.boolean(true), b)
export const both = (a: p.Bool, b: p.Bool): p.Bool => p.choose(a, b, p.boolean(false))
export const every = (...conditions: readonly p.Bool[]): p.Bool =>
  conditions.reduceRight((rest, each) => both(each, rest))

export const constr = (index: number, ...fields: readonly p.Data[]): p.Data =>
  fields.length === 0 ? p.emptyConstr(index) : p.constrData(p.integer(index), p.listOf(...fields))

export const some = (value: p.Data): p.Data => constr(0, value)
export const none = (): p.Data => p.emptyConstr(1)
export const isNone = (option: p.Data): p.Bool => p.equalsInteger(constructorOf(option), p.integer(1))
/** The value in an option; fails for `none`. */
export const valueIn = (option: p.Data): p.Data => p.headList(fieldsOf(option))
/** A Plutus `Bool`, as data. */
export const boolData = (value: boolean): p.Data => p.emptyConstr(value ? 1 : 0)
/** Whether data is the Plutus `Bool` true. */
export const isTrue = (value: p.Data): p.Bool => p.equalsInteger(constructorOf(value), p.integer(1))

/** Whether data is the constructor of this index with this many fields. */
export const hasShape = (value: p.Data, index: number, size: number): p.Bool =>
  both(
    p.equalsInteger(constructorOf(value), p.integer(index)),
    p.equalsInteger(lengthOf(fieldsOf(value)), p.integer(size)),
  )

export const isBytesOf = (value: p.Data, length: number): p.Bool =>
  p.equalsInteger(p.lengthOfByteString(p.unBData(value)), p.integer(length))

/** A number from 0 to 2^32 − 1. Bounded, because a datum must not outgrow later transactions. */
export const isSmall = p.define(
  (value: p.Data): p.Bool =>
    p.scope(function* () {
      const number = yield* p.bind(p.unIData(value))
      return both(
        p.lessThanEqualsInteger(p.integer(0), number),
        p.lessThanInteger(number, p.integer(2n ** 32n)),
      )
    }),
)

export const lengthOf = p.define(
  p.recursive<PList<PData>, PInt>((self, items) =>
    p.uncons(items, p.integer(0), (_first, others) => p.addInteger(p.integer(1), self(others))),
  ),
)

/** Whether an item of a list or map satisfies a condition. */
export const any = <T extends PData | PPair<PData, PData>>(
  items: Term<PList<T>>,
  condition: (item: Term<T>) => p.Bool,
): p.Bool =>
  p.recursive<PList<T>, PBool>((self, rest) =>
    p.uncons(rest, p.boolean(false), (first, others) =>
      p.choose(condition(first), p.boolean(true), self(others)),
    ),
  )(items)

export const includes = p.defineOf<[PList<PData>, PData], PBool>(
  2,
  (items: p.List, item: p.Data): p.Bool => any(items, (each) => p.equalsData(each, item)),
)

/** The first item that satisfies a condition; fails if none does. */
export const find = (items: p.List, condition: (item: p.Data) => p.Bool): p.Data =>
  p.recursive<PList<PData>, PData>((self, rest) =>
    p.uncons(rest, p.fail(), (item, others) => p.choose(condition(item), item, self(others))),
  )(items)

/** The items behind the first `count`; fails past the end, and for a negative count. */
export const itemsBehind = (items: p.List, count: p.Int): p.List =>
  p.call(
    p.recursive<PInt, PLam<PList<PData>, PList<PData>>>((self, left) =>
      p.lambda((rest) =>
        p.choose(
          p.equalsInteger(left, p.integer(0)),
          rest,
          p.call(self(p.subtractInteger(left, p.integer(1))), p.tailList(rest)),
        ),
      ),
    )(count),
    items,
  )

/** The item at a computed index; fails past the end. */
export const itemAt = (items: p.List, index: p.Int): p.Data => p.headList(itemsBehind(items, index))

/** `switch`: the branch with this index; fails if there is none. */
export const branch = <T extends PType>(
  index: p.Int,
  ...branches: readonly (readonly [index: number, term: Term<T>])[]
): Term<T> => {
  const dense = new Array<Term<T>>(1 + Math.max(...branches.map(([own]) => own))).fill(p.fail())
  for (const [own, term] of branches) dense[own] = term
  return p.choosing(index, ...dense)
}

const stride = 8

/** The items behind the first `count`, rounded down to a multiple of eight; fails past the end. */
export const skipAbout = (items: p.List, count: p.Int): p.List =>
  p.call(
    p.recursive<PInt, PLam<PList<PData>, PList<PData>>>((self, left) =>
      p.lambda((rest) =>
        p.choose(
          p.lessThanInteger(left, p.integer(stride)),
          rest,
          p.call(
            self(p.subtractInteger(left, p.integer(stride))),
            Array.from({ length: stride }).reduce<p.List>((list) => p.tailList(list), rest),
          ),
        ),
      ),
    )(count),
    items,
  )

/** The item at a computed index of a long list, eight steps at a time; fails past the end. */
export const farItemAt = (items: p.List, index: p.Int): p.Data =>
  p.scope(function* () {
    const place = yield* p.bind(index)
    return itemAt(skipAbout(items, place), p.modInteger(place, p.integer(stride)))
  })
