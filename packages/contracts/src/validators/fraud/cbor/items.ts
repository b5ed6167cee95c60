import type { PBool, PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import { FormKind } from '../../../fraud/item-types.js'
import {
  addInteger,
  boolean,
  bytes as constant,
  divideInteger,
  equalsByteString,
  equalsInteger,
  fail,
  headList,
  indexByteString,
  integer,
  lengthOfByteString,
  lessThanInteger,
  modInteger,
  multiplyInteger,
  nullList,
  tailList,
  unIData,
} from '../../core/builtins.js'
import { at, both, branch, either, every, not } from '../../core/data.js'
import {
  type Bool,
  type Bytes,
  bind,
  call,
  choose,
  define,
  defineOf,
  fixed,
  type Int,
  type List,
  lambda,
  scope,
} from '../../core/term.js'
import { itemTables as tables } from './item-tables.js'
import { argumentAt, countIn, fieldUnder, placeAt, stringAt, withHead } from './read.js'
import { itemBytes } from './skip.js'
import { isMalformed } from './well-formed.js'

/*
 * Items of bodies and witness sets by their types. A proof says where the item is that is strange: by the
 * place of each part in the one around it. An item of another type on the way is strange itself, so that of
 * transactions that the ledger decodes no such item can be shown.
 */

const table = (entries: readonly number[]): Bytes => constant(Uint8Array.from(entries))

/** The number of a type's form for a major type; 0 if it has none. */
const formOf = defineOf<[PInt, PInt], PInt>(2, (type, major) =>
  indexByteString(table(tables.rows), addInteger(multiplyInteger(type, integer(8)), major)),
)

type Column = keyof typeof tables.columns

const columnOf = Object.fromEntries(
  Object.entries(tables.columns).map(([name, entries]) => [
    name,
    define<PInt, PInt>((form) => indexByteString(table(entries), form)),
  ]),
) as Record<Column, (form: Int) => Int>

/** The type of a part; 0 if other claims are about it. */
const typeOfPart = defineOf<[PInt, PInt], PInt>(2, (form, select) =>
  indexByteString(table(tables.parts), addInteger(columnOf.parts(form), select)),
)

const boundOf = define<PInt, PInt>((code) =>
  choose(
    lessThanInteger(code, integer(128)),
    code,
    branch(code, ...tables.bounds.map((bound, place) => [128 + place, integer(bound)] as const)),
  ),
)

/** Where the item behind a tag of Plutus data finds its type; negative if there is no such tag. */
const placeOfTagged = defineOf<[PInt, PInt], PInt>(2, (first, tag) => {
  const isBetween = (least: number, most: number): Bool =>
    both(lessThanInteger(integer(least - 1), tag), lessThanInteger(tag, integer(most + 1)))
  return choose(
    either(equalsInteger(first, integer(0xc2)), equalsInteger(first, integer(0xc3))),
    integer(0),
    choose(
      equalsInteger(tag, integer(102)),
      integer(1),
      choose(either(isBetween(121, 127), isBetween(1280, 1400)), integer(2), integer(-1)),
    ),
  )
})

/** Whether an address, which has the least length, has another than its type in CIP-19 asks for. */
const isStrangeAddress = define<PByteString, PBool>((address) =>
  scope(function* () {
    const length = yield* bind(lengthOfByteString(address))
    const header = yield* bind(indexByteString(address, integer(0)))
    const isBelow = (bound: number): Bool => lessThanInteger(header, integer(bound))
    const hasOther = (expected: number): Bool => not(equalsInteger(length, integer(expected)))
    return choose(
      isBelow(0x40),
      hasOther(57),
      choose(isBelow(0x60), lessThanInteger(integer(40), length), both(isBelow(0x80), hasOther(29))),
    )
  }),
)

/** Bytes → place → type → path → whether the item at the end of the path is strange. */
type Strange = PLam<PByteString, PLam<PInt, PLam<PList<PData>, PBool>>>

const strange = defineOf<[PList<PData>, PInt, PByteString, PList<PData>], PBool>(
  4,
  (same, root, part, wholePath) =>
    call<PBool>(
      fixed<PInt, Strange>((self, type) =>
        lambda((cbor) =>
          lambda((place) =>
            lambda((path) =>
              scope(function* () {
                const first = yield* bind(indexByteString(cbor, place))
                const major = yield* bind(divideInteger(first, integer(32)))
                const form = yield* bind(formOf(type, major))
                const of = (name: Column): Int => columnOf[name](form)
                const goOn = (select: Int, inside: Bytes, from: Int, rest: List): Bool =>
                  call<PBool>(self(typeOfPart(form, select)), inside, from, rest)
                const read = withHead(cbor, place, (argument, next) =>
                  scope(function* () {
                    const kind = yield* bind(of('kind'))
                    const is = (name: keyof typeof FormKind): Bool =>
                      equalsInteger(kind, integer(FormKind[name]))
                    const item: Item = { cbor, place, first, major, argument, next, is, of }
                    return choose(
                      is('variant'),
                      choose(
                        hasNoVariant(item),
                        nullList(path),
                        goOn(argumentAt(cbor, next), cbor, place, path),
                      ),
                      choose(nullList(path), isStrangeItself(item, same), stepInto(item, kind, path, goOn)),
                    )
                  }),
                )
                return choose(
                  equalsInteger(type, integer(0)),
                  fail<PBool>(),
                  choose(equalsInteger(form, integer(0)), nullList(path), read),
                )
              }),
            ),
          ),
        ),
      ),
      root,
      part,
      integer(0),
      wholePath,
    ),
)

/** An item whose head is read, and what is known of its form. */
interface Item {
  readonly cbor: Bytes
  readonly place: Int
  readonly first: Int
  readonly major: Int
  readonly argument: Int
  /** Behind the head. */
  readonly next: Int
  is(kind: keyof typeof FormKind): Bool
  of(name: Column): Int
}

/** Whether the first part of an array, if there is one, is no number of a variant. */
const hasNoVariant = ({ cbor, argument, next, of }: Item): Bool =>
  either(
    equalsInteger(argument, integer(0)),
    either(
      lessThanInteger(integer(0x1f), indexByteString(cbor, next)),
      lessThanInteger(of('most'), argumentAt(cbor, next)),
    ),
  )

/** Whether an item is out of its bounds or, if two of its parts are named, these are equal and may not be. */
const isStrangeItself = (item: Item, same: List): Bool => {
  const { cbor, place, first, major, argument, next, is, of } = item
  const isMap = equalsInteger(major, integer(5))
  const partAt = (index: Int): Bytes =>
    itemBytes(cbor, placeAt(cbor, argument, next, choose(isMap, integer(2), integer(1)), index))
  const number = choose(
    lessThanInteger(argument, integer(0)),
    choose(
      is('chunks'),
      integer(0),
      choose(
        both(lessThanInteger(integer(3), major), not(is('pair'))),
        countIn(cbor, place, () => boolean(true)),
        argument,
      ),
    ),
    argument,
  )
  const isOutOfBounds = scope(function* () {
    const value = yield* bind(number)
    return either(lessThanInteger(value, boundOf(of('least'))), lessThanInteger(boundOf(of('most')), value))
  })
  return choose(
    nullList(same),
    either(
      isOutOfBounds,
      choose(
        is('embedded'),
        isMalformed(stringAt(cbor, place)),
        choose(
          is('dataTag'),
          lessThanInteger(placeOfTagged(first, argument), integer(0)),
          both(is('address'), isStrangeAddress(stringAt(cbor, place))),
        ),
      ),
    ),
    scope(function* () {
      const one = yield* bind(unIData(headList(same)))
      const other = yield* bind(unIData(at(same, 1)))
      return every(
        equalsInteger(of('isDistinct'), integer(1)),
        not(equalsInteger(one, other)),
        equalsByteString(partAt(one), partAt(other)),
      )
    }),
  )
}

type GoOn = (select: Int, inside: Bytes, from: Int, rest: List) => Bool

/** Goes on with the part of an item that a path names; fails if it has none. */
const stepInto = (item: Item, kind: Int, path: List, goOn: GoOn): Bool =>
  scope(function* () {
    const { cbor, place, first, major, argument, next } = item
    const index = yield* bind(unIData(headList(path)))
    const rest = yield* bind(tailList(path))
    const isOf = (number: number): Bool => equalsInteger(major, integer(number))
    const count = choose(
      isOf(6),
      integer(1),
      choose(isOf(5), multiplyInteger(argument, integer(2)), argument),
    )
    const into = (select: Int): Bool =>
      goOn(select, cbor, placeAt(cbor, count, next, integer(1), index), rest)
    const none = integer(0)
    return branch(
      kind,
      [FormKind.list, into(none)],
      [FormKind.record, into(index)],
      [FormKind.pair, into(index)],
      [FormKind.map, into(modInteger(index, integer(2)))],
      [FormKind.keyed, goOn(index, cbor, fieldUnder(cbor, place, index), rest)],
      [FormKind.embedded, goOn(none, stringAt(cbor, place), none, rest)],
      // Of a string that is not in chunks, its bytes are no items.
      [FormKind.chunks, choose(lessThanInteger(argument, none), into(none), fail<PBool>())],
      [FormKind.dataTag, into(placeOfTagged(first, argument))],
    )
  })

/**
 * Whether an item is not what the ledger decodes there. The bytes must be well-formed CBOR, or reading may
 * fail; so it does at what the path does not lead to.
 * @param isBody whether the whole is a body
 * @param path the part of the whole, its part, and so on: keys and values in turn; of one by key, the key
 * @param same two equal parts of the item (entries of a map); empty if the item itself is strange
 */
export const isStrangeItem = (isBody: Bool, cbor: Bytes, path: List, same: List): Bool =>
  strange(
    same,
    choose(isBody, integer(tables.numberOf('body')), integer(tables.numberOf('witnessSet'))),
    cbor,
    path,
  )
