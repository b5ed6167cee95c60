import type { PBool, PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import { FormKind, type Forms, type ItemType, itemTypeNames, itemTypes } from '../../../item-types.js'
import { at, both, branch, either, every, not } from '../../core/data.js'
import * as p from '../../core/term.js'
import { argumentAt, countIn, fieldUnder, isEnd, placeAt, stringAt, withHead } from './read.js'
import { isMalformed, itemBytes } from './skip.js'

/** How an item is read, by its form. */
const Reading = {
  /** Another claim is about it. */
  unknown: 0,
  /** It has no form that its type has. */
  strange: 1,
  /** Its first part says what type it is. */
  variant: 2,
  other: 3,
} as const

/** The types of items as bytes, in which the script looks them up. */
const itemTables = (() => {
  const bounds: bigint[] = []
  /** Numbers below 128 as they are, others by their place in a list. */
  const codeOf = (bound: bigint): number => {
    if (bound < 128n) return Number(bound)
    if (!bounds.includes(bound)) bounds.push(bound)
    return 128 + bounds.indexOf(bound)
  }
  const [unknownForm, strangeForm] = [0, 1]
  const rows = new Array<number>(8).fill(unknownForm)
  const parts: number[] = []
  /** By form. */
  const columns = {
    reading: [Reading.unknown, Reading.strange] as number[],
    kind: [0, 0],
    parts: [0, 0],
    least: [0, 0],
    most: [0, 0],
    isDistinct: [0, 0],
  }
  const numberOf = (type: ItemType | undefined): number => (type ? 1 + itemTypeNames.indexOf(type) : 0)
  for (const name of itemTypeNames) {
    const ofType: Forms = itemTypes[name]
    for (const major of [0, 1, 2, 3, 4, 5, 6, 7] as const) {
      const form = major === 3 || major === 7 ? undefined : ofType[major]
      rows.push(form ? columns.kind.length : strangeForm)
      if (form === undefined) continue
      columns.reading.push(form.kind === 'variant' ? Reading.variant : Reading.other)
      columns.kind.push(FormKind[form.kind])
      columns.parts.push(parts.length)
      columns.least.push(codeOf(form.least))
      columns.most.push(codeOf(form.most))
      columns.isDistinct.push(Number(form.isDistinct))
      parts.push(...form.parts.map(numberOf))
    }
  }
  if (Math.max(parts.length, columns.kind.length) > 255) throw new RangeError('The tables have too many rows')
  return { bounds, rows, columns, parts, numberOf }
})()

/*
 * Items of bodies and witness sets by their types. A proof says where the item is that is strange: by the
 * place of each part in the one around it. An item of another type on the way is strange itself, so that of
 * transactions that the ledger decodes no such item can be shown.
 */

const table = (entries: readonly number[]): p.Bytes => p.hoisted(p.bytes(Uint8Array.from(entries)))

const rows = table(itemTables.rows)
/** A form of a type, by the first byte of an item. */
const formOf = (type: p.Int, first: p.Int): p.Int =>
  p.indexByteString(
    rows,
    p.addInteger(p.multiplyInteger(type, p.integer(8)), p.divideInteger(first, p.integer(32))),
  )

type Column = keyof typeof itemTables.columns

const columns = Object.fromEntries(
  Object.entries(itemTables.columns).map(([name, entries]) => [name, table(entries)]),
) as Record<Column, p.Bytes>

const parts = table(itemTables.parts)
/** The type of a part; 0 if other claims are about it. */
const typeOfPart = (form: p.Int, select: p.Int): p.Int =>
  p.indexByteString(parts, p.addInteger(p.indexByteString(columns.parts, form), select))

const boundOf = p.define<PInt, PInt>((code) =>
  p.choose(
    p.lessThanInteger(code, p.integer(128)),
    code,
    p.choosing(
      p.subtractInteger(code, p.integer(128)),
      ...itemTables.bounds.map((bound) => p.integer(bound)),
    ),
  ),
)

/** Where the item behind a tag of Plutus data finds its type; negative if there is no such tag. */
const placeOfTagged = p.defineOf<[PInt, PInt], PInt>(2, (first, tag) => {
  const isBetween = (least: number, most: number): p.Bool =>
    both(p.lessThanInteger(tag, p.integer(most + 1)), p.lessThanInteger(p.integer(least - 1), tag))
  return p.choose(
    either(isBetween(121, 127), isBetween(1280, 1400)),
    p.integer(2),
    p.choose(
      either(p.equalsInteger(first, p.integer(0xc2)), p.equalsInteger(first, p.integer(0xc3))),
      p.integer(0),
      p.choose(p.equalsInteger(tag, p.integer(102)), p.integer(1), p.integer(-1)),
    ),
  )
})

/** Whether an address, which has the least length, has another than its type in CIP-19 asks for. */
const isStrangeAddress = p.define<PByteString, PBool>((address) =>
  p.scope(function* () {
    const length = yield* p.bind(p.lengthOfByteString(address))
    const header = yield* p.bind(p.indexByteString(address, p.integer(0)))
    const isBelow = (bound: number): p.Bool => p.lessThanInteger(header, p.integer(bound))
    const hasOther = (expected: number): p.Bool => not(p.equalsInteger(length, p.integer(expected)))
    return p.choose(
      isBelow(0x40),
      hasOther(57),
      p.choose(isBelow(0x60), p.lessThanInteger(p.integer(40), length), both(isBelow(0x80), hasOther(29))),
    )
  }),
)

/** Bytes → place → type → path → whether the item at the end of the path is strange. */
type Strange = PLam<PByteString, PLam<PInt, PLam<PList<PData>, PBool>>>

const strange = p.defineOf<[PList<PData>, PInt, PByteString, PList<PData>], PBool>(
  4,
  (same, root, part, wholePath) =>
    p.call<PBool>(
      p.fixed<PInt, Strange>((self, type) =>
        p.lambda((cbor) =>
          p.lambda((place) =>
            p.lambda((path) =>
              p.scope(function* () {
                const first = yield* p.bind(p.indexByteString(cbor, place))
                const form = yield* p.bind(formOf(type, first))
                const of = (name: Column): p.Int => p.indexByteString(columns[name], form)
                const goOn: GoOn = (select, inside, from, rest) =>
                  p.call<PBool>(self(typeOfPart(form, select)), inside, from, rest)
                const read = (then: (item: Item) => p.Bool): p.Bool =>
                  withHead(cbor, place, (argument, next) => then({ cbor, place, first, argument, next, of }))
                return branch(
                  of('reading'),
                  [Reading.unknown, p.fail<PBool>()],
                  [Reading.strange, p.nullList(path)],
                  [
                    Reading.variant,
                    read((item) =>
                      p.choose(
                        hasNoVariant(item),
                        p.nullList(path),
                        goOn(argumentAt(cbor, item.next), cbor, place, path),
                      ),
                    ),
                  ],
                  [
                    Reading.other,
                    p.uncons(
                      path,
                      read((item) => isStrangeItself(item, same)),
                      (index, rest) => read((item) => stepInto(item, p.unIData(index), rest, goOn)),
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
      p.integer(0),
      wholePath,
    ),
)

/** An item whose head is read, and what is known of its form. */
interface Item {
  readonly cbor: p.Bytes
  readonly place: p.Int
  readonly first: p.Int
  readonly argument: p.Int
  /** Behind the head. */
  readonly next: p.Int
  of(name: Column): p.Int
}

/** Whether the first part of an array, if there is one, is no number of a variant. */
const hasNoVariant = ({ cbor, argument, next, of }: Item): p.Bool =>
  either(
    p.equalsInteger(argument, p.integer(0)),
    either(
      p.lessThanInteger(p.integer(0x1f), p.indexByteString(cbor, next)),
      p.lessThanInteger(of('most'), argumentAt(cbor, next)),
    ),
  )

/** Whether an item is out of its bounds or, if two of its parts are named, these are equal and may not be. */
const isStrangeItself = (item: Item, same: p.List): p.Bool => {
  const { cbor, place, first, argument, next, of } = item
  const is = (kind: keyof typeof FormKind): p.Bool => p.equalsInteger(of('kind'), p.integer(FormKind[kind]))
  const isMap = p.equalsInteger(p.divideInteger(first, p.integer(32)), p.integer(5))
  const partAt = (index: p.Int): p.Bytes =>
    itemBytes(cbor, placeAt(cbor, argument, next, p.choose(isMap, p.integer(2), p.integer(1)), index))
  const number = p.choose(
    p.lessThanInteger(argument, p.integer(0)),
    p.choose(
      is('chunks'),
      p.integer(0),
      p.choose(
        both(p.lessThanInteger(p.integer(0x7f), first), not(is('pair'))),
        countIn(cbor, place, () => p.boolean(true)),
        argument,
      ),
    ),
    argument,
  )
  const isOutOfBounds = p.scope(function* () {
    const value = yield* p.bind(number)
    return either(
      p.lessThanInteger(value, boundOf(of('least'))),
      p.lessThanInteger(boundOf(of('most')), value),
    )
  })
  return p.choose(
    p.nullList(same),
    either(
      isOutOfBounds,
      p.choose(
        is('embedded'),
        isMalformed(stringAt(cbor, place)),
        p.choose(
          is('dataTag'),
          p.lessThanInteger(placeOfTagged(first, argument), p.integer(0)),
          both(is('address'), isStrangeAddress(stringAt(cbor, place))),
        ),
      ),
    ),
    p.scope(function* () {
      const one = yield* p.bind(p.unIData(p.headList(same)))
      const other = yield* p.bind(p.unIData(at(same, 1)))
      return every(
        p.equalsInteger(of('isDistinct'), p.integer(1)),
        not(p.equalsInteger(one, other)),
        p.equalsByteString(partAt(one), partAt(other)),
      )
    }),
  )
}

type GoOn = (select: p.Int, inside: p.Bytes, from: p.Int, rest: p.List) => p.Bool

/** Goes on with the part of an item that a path names; fails if it has none. */
const stepInto = (item: Item, part: p.Int, rest: p.List, goOn: GoOn): p.Bool =>
  p.scope(function* () {
    const { cbor, place, first, argument, next, of } = item
    const index = yield* p.bind(part)
    const into = (select: p.Int, count = argument): p.Bool =>
      goOn(select, cbor, partOf(cbor, count, next, index), rest)
    const none = p.integer(0)
    return branch(
      of('kind'),
      [FormKind.list, into(none)],
      [FormKind.tagged, into(none, p.integer(1))],
      [FormKind.record, into(index)],
      [FormKind.pair, into(index)],
      [FormKind.map, into(p.modInteger(index, p.integer(2)), p.multiplyInteger(argument, p.integer(2)))],
      [FormKind.keyed, goOn(index, cbor, fieldUnder(cbor, place, index), rest)],
      [FormKind.embedded, goOn(none, stringAt(cbor, place), none, rest)],
      // Of a string that is not in chunks, its bytes are no items.
      [FormKind.chunks, p.choose(p.lessThanInteger(argument, none), into(none), p.fail<PBool>())],
      [FormKind.dataTag, into(placeOfTagged(first, argument), p.integer(1))],
    )
  })

/** Where a part is, by its index; the first is found at once. Fails, or is no place, if there is none. */
const partOf = p.defineOf<[PByteString, PInt, PInt, PInt], PInt>(4, (cbor, count, first, index) =>
  p.choose(
    p.equalsInteger(index, p.integer(0)),
    p.choose(isEnd(cbor, count, first), p.fail(), first),
    placeAt(cbor, count, first, p.integer(1), index),
  ),
)

/**
 * Whether an item is not what the ledger decodes there. The bytes must be well-formed CBOR, or reading may
 * fail; so it does at what the path does not lead to.
 * @param isBody whether the whole is a body
 * @param path the part of the whole, its part, and so on: keys and values in turn; of one by key, the key
 * @param same two equal parts of the item (entries of a map); empty if the item itself is strange
 */
export const isStrangeItem = (isBody: p.Bool, cbor: p.Bytes, path: p.List, same: p.List): p.Bool =>
  strange(
    same,
    p.choose(isBody, p.integer(itemTables.numberOf('body')), p.integer(itemTables.numberOf('witnessSet'))),
    cbor,
    path,
  )
