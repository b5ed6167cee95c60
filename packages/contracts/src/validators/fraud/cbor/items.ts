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
  subtractInteger,
  unIData,
} from '../../core/builtins.js'
import { at, both, branch, either, every, not } from '../../core/data.js'
import {
  type Bool,
  type Bytes,
  bind,
  call,
  choose,
  choosing,
  define,
  defineOf,
  fixed,
  hoisted,
  type Int,
  type List,
  lambda,
  scope,
  uncons,
} from '../../core/term.js'
import { Reading, itemTables as tables } from './item-tables.js'
import { argumentAt, countIn, fieldUnder, isEnd, placeAt, stringAt, withHead } from './read.js'
import { itemBytes } from './skip.js'
import { isMalformed } from './well-formed.js'

/*
 * Items of bodies and witness sets by their types. A proof says where the item is that is strange: by the
 * place of each part in the one around it. An item of another type on the way is strange itself, so that of
 * transactions that the ledger decodes no such item can be shown.
 */

const table = (entries: readonly number[]): Bytes => hoisted(constant(Uint8Array.from(entries)))

const rows = table(tables.rows)
/** A form of a type, by the first byte of an item. */
const formOf = (type: Int, first: Int): Int =>
  indexByteString(rows, addInteger(multiplyInteger(type, integer(8)), divideInteger(first, integer(32))))

type Column = keyof typeof tables.columns

const columns = Object.fromEntries(
  Object.entries(tables.columns).map(([name, entries]) => [name, table(entries)]),
) as Record<Column, Bytes>

const parts = table(tables.parts)
/** The type of a part; 0 if other claims are about it. */
const typeOfPart = (form: Int, select: Int): Int =>
  indexByteString(parts, addInteger(indexByteString(columns.parts, form), select))

const boundOf = define<PInt, PInt>((code) =>
  choose(
    lessThanInteger(code, integer(128)),
    code,
    choosing(subtractInteger(code, integer(128)), ...tables.bounds.map((bound) => integer(bound))),
  ),
)

/** Where the item behind a tag of Plutus data finds its type; negative if there is no such tag. */
const placeOfTagged = defineOf<[PInt, PInt], PInt>(2, (first, tag) => {
  const isBetween = (least: number, most: number): Bool =>
    both(lessThanInteger(tag, integer(most + 1)), lessThanInteger(integer(least - 1), tag))
  return choose(
    either(isBetween(121, 127), isBetween(1280, 1400)),
    integer(2),
    choose(
      either(equalsInteger(first, integer(0xc2)), equalsInteger(first, integer(0xc3))),
      integer(0),
      choose(equalsInteger(tag, integer(102)), integer(1), integer(-1)),
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
                const form = yield* bind(formOf(type, first))
                const of = (name: Column): Int => indexByteString(columns[name], form)
                const goOn: GoOn = (select, inside, from, rest) =>
                  call<PBool>(self(typeOfPart(form, select)), inside, from, rest)
                const read = (then: (item: Item) => Bool): Bool =>
                  withHead(cbor, place, (argument, next) => then({ cbor, place, first, argument, next, of }))
                return branch(
                  of('reading'),
                  [Reading.unknown, fail<PBool>()],
                  [Reading.strange, nullList(path)],
                  [
                    Reading.variant,
                    read((item) =>
                      choose(
                        hasNoVariant(item),
                        nullList(path),
                        goOn(argumentAt(cbor, item.next), cbor, place, path),
                      ),
                    ),
                  ],
                  [
                    Reading.other,
                    uncons(
                      path,
                      read((item) => isStrangeItself(item, same)),
                      (index, rest) => read((item) => stepInto(item, unIData(index), rest, goOn)),
                    ),
                  ],
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
  readonly argument: Int
  /** Behind the head. */
  readonly next: Int
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
  const { cbor, place, first, argument, next, of } = item
  const is = (kind: keyof typeof FormKind): Bool => equalsInteger(of('kind'), integer(FormKind[kind]))
  const isMap = equalsInteger(divideInteger(first, integer(32)), integer(5))
  const partAt = (index: Int): Bytes =>
    itemBytes(cbor, placeAt(cbor, argument, next, choose(isMap, integer(2), integer(1)), index))
  const number = choose(
    lessThanInteger(argument, integer(0)),
    choose(
      is('chunks'),
      integer(0),
      choose(
        both(lessThanInteger(integer(0x7f), first), not(is('pair'))),
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
const stepInto = (item: Item, part: Int, rest: List, goOn: GoOn): Bool =>
  scope(function* () {
    const { cbor, place, first, argument, next, of } = item
    const index = yield* bind(part)
    const into = (select: Int, count = argument): Bool =>
      goOn(select, cbor, partOf(cbor, count, next, index), rest)
    const none = integer(0)
    return branch(
      of('kind'),
      [FormKind.list, into(none)],
      [FormKind.tagged, into(none, integer(1))],
      [FormKind.record, into(index)],
      [FormKind.pair, into(index)],
      [FormKind.map, into(modInteger(index, integer(2)), multiplyInteger(argument, integer(2)))],
      [FormKind.keyed, goOn(index, cbor, fieldUnder(cbor, place, index), rest)],
      [FormKind.embedded, goOn(none, stringAt(cbor, place), none, rest)],
      // Of a string that is not in chunks, its bytes are no items.
      [FormKind.chunks, choose(lessThanInteger(argument, none), into(none), fail<PBool>())],
      [FormKind.dataTag, into(placeOfTagged(first, argument), integer(1))],
    )
  })

/** Where a part is, by its index; the first is found at once. Fails, or is no place, if there is none. */
const partOf = defineOf<[PByteString, PInt, PInt, PInt], PInt>(4, (cbor, count, first, index) =>
  choose(
    equalsInteger(index, integer(0)),
    choose(isEnd(cbor, count, first), fail(), first),
    placeAt(cbor, count, first, integer(1), index),
  ),
)

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
