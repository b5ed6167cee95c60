import { fromHex } from '@ratatosk/cbor'
import {
  type DataValue,
  decodeAnyData,
  encodePlutusData,
  type PlutusData,
} from '@ratatosk/ledger/plutus-data'
import { arrayOf, type Draw } from '../fraud/draw.js'
import {
  BytesData,
  ConstrData,
  type Data,
  Failure,
  IntData,
  intOf,
  ListData,
  listOf,
  MapData,
  Pair,
  unit,
} from '../uplc/builtins.js'
import { translate } from '../uplc/translate.js'
import { stranger, summonsTerms as terms, type World } from '../world.js'
import { type Asked, datumOf, nameOf } from './scenarios.js'

type Constructor = Extract<DataValue, { kind: 'constructor' }>

/** Data of the kinds that the ledger has, as the encoder reads it. */
const read = (data: PlutusData): DataValue => decodeAnyData(encodePlutusData(data))

const linkedList = <Item>(items: readonly Item[]) =>
  items.reduceRight<{ head: Item; tail: never; length: number } | null>(
    (tail, head) => ({ head, tail: tail as never, length: (tail?.length ?? 0) + 1 }),
    null,
  )

const constructed = (index: bigint, fields: readonly DataValue[]): Constructor => ({
  kind: 'constructor',
  index,
  fields: linkedList(fields),
})

/** Lists in lists, or lists in constructors. */
function deep(levels: number, draw: Draw): DataValue {
  let data: DataValue = { kind: 'integer', value: 0n }
  const inConstructors = draw(2) === 0
  for (let level = 0; level < levels; level++)
    data = inConstructors ? constructed(200n, [data]) : { kind: 'list', items: linkedList([data]) }
  return data
}

/** scalus, a second opinion, reads none from 2^63 on. */
const indexes = [0n, 1n, 2n, 3n, 6n, 7n, 127n, 128n, 2n ** 63n - 1n] as const

/** Data that no codec of the protocol writes. */
export function strangeData(draw: Draw): DataValue {
  switch (draw(7)) {
    case 0:
      return { kind: 'map', entries: null }
    case 1:
      return { kind: 'map', entries: linkedList([{ first: read(0n), second: strangeData(draw) }]) }
    case 2:
      return constructed(indexes[draw(indexes.length)]!, draw(2) === 0 ? [] : [strangeData(draw)])
    case 3:
      return { kind: 'integer', value: [0n, -1n, 2n ** 64n, -(2n ** 200n)][draw(4)]! }
    case 4:
      return { kind: 'bytes', value: new Uint8Array(draw(90)) }
    case 5:
      return { kind: 'list', items: null }
    default:
      return deep(1 + draw(60), draw)
  }
}

/** How many parts data has, itself included. */
const sizeOf = (data: DataValue): number => 1 + partsOf(data).reduce((sum, part) => sum + sizeOf(part), 0)

function partsOf(data: DataValue): readonly DataValue[] {
  if (data.kind === 'list') return arrayOf(data.items)
  if (data.kind === 'constructor') return arrayOf(data.fields)
  return data.kind === 'map' ? arrayOf(data.entries).flatMap(({ first, second }) => [first, second]) : []
}

/** The part at a place, counted from the whole downwards, replaced. Maps are left as they are. */
function replaced(data: DataValue, place: number, change: (part: DataValue) => DataValue): DataValue {
  if (place === 0 || (data.kind !== 'list' && data.kind !== 'constructor')) return change(data)
  let left = place - 1
  const items = partsOf(data).map((item) => {
    const size = sizeOf(item)
    const isHere = left >= 0 && left < size
    const result = isHere ? replaced(item, left, change) : item
    left = isHere ? -1 : left - size
    return result
  })
  return data.kind === 'list' ? { kind: 'list', items: linkedList(items) } : constructed(data.index, items)
}

/** Changes that a script which reads by position may not notice, and some that it must. */
function changed(part: DataValue, draw: Draw): DataValue {
  if (draw(6) === 0) return strangeData(draw)
  if (part.kind === 'constructor') {
    const fields = arrayOf(part.fields)
    const index = draw(2) === 0 ? part.index : indexes[draw(indexes.length)]!
    const more = draw(2) === 0 ? fields : [...fields, strangeData(draw)]
    return constructed(index, draw(8) === 0 ? fields.slice(1) : more)
  }
  if (part.kind === 'list') {
    const items = arrayOf(part.items)
    if (draw(3) === 0) return { kind: 'list', items: linkedList([...items, strangeData(draw)]) }
    return {
      kind: 'list',
      items: linkedList(items.map((item) => (draw(4) === 0 ? changed(item, draw) : item))),
    }
  }
  if (part.kind === 'bytes' && part.value.length > 0 && draw(4) === 0) {
    const place = draw(part.value.length)
    return { kind: 'bytes', value: part.value.with(place, part.value[place]! ^ (1 << draw(8))) }
  }
  return part.kind === 'integer' ? { kind: 'integer', value: part.value + BigInt(draw(3)) - 1n } : part
}

/** A redeemer with one or a few parts changed. */
export function mutatedAnswer(redeemer: DataValue, draw: Draw): DataValue {
  let result = redeemer
  for (let times = 1 + draw(3); times > 0; times--)
    result = replaced(result, draw(sizeOf(result)), (part) => changed(part, draw))
  return result
}

/** The datum of a reference input: bytes, or no more than a hash. */
export type Holder =
  | { readonly kind: 'inline'; readonly bytes: Uint8Array }
  | { readonly kind: 'hash'; readonly hash: Uint8Array }

const constr = (index: number | bigint, ...fields: readonly Data[]) =>
  new ConstrData(intOf(BigInt(index)), listOf(fields))
const bytes = (value: Uint8Array) => new BytesData(value)
const map = (...entries: readonly (readonly [Data, Data])[]) =>
  new MapData(listOf(entries.map((entry) => new Pair(...entry))))
const none = constr(1)
const lovelace = (amount: bigint) =>
  map([bytes(fromHex('')), map([bytes(fromHex('')), new IntData(intOf(amount))])])
const output = (credential: Data, value: Data, datum: Data) =>
  constr(0, constr(0, credential, none), value, datum, none)

/** Data as the translated script reads it. */
function scriptDataOf(data: DataValue): Data {
  switch (data.kind) {
    case 'integer':
      return new IntData(intOf(data.value))
    case 'bytes':
      return new BytesData(data.value)
    case 'list':
      return new ListData(listOf(arrayOf(data.items).map(scriptDataOf)))
    case 'map':
      return map(
        ...arrayOf(data.entries).map(
          ({ first, second }) => [scriptDataOf(first), scriptDataOf(second)] as const,
        ),
      )
    case 'constructor':
      return constr(data.index, ...arrayOf(data.fields).map(scriptDataOf))
  }
}

/**
 * The script of the summons as a function of JavaScript: whether it takes a redeemer that spends a question,
 * in a transaction that an answer needs.
 */
export function translatedAnswers({ summons }: World) {
  const run = translate(summons.script)
  return (asked: Asked, redeemer: DataValue, holders: readonly Holder[] = []): boolean => {
    const datum = datumOf(asked)
    const name = bytes(nameOf(datum))
    const reference = constr(0, bytes(new Uint8Array(32)), new IntData(0))
    const own = output(
      constr(1, bytes(summons.policy)),
      lovelace(terms.bond),
      constr(2, scriptDataOf(decodeAnyData(datum))),
    )
    const refund = output(constr(0, bytes(stranger.hash)), lovelace(terms.bond), constr(2, name))
    const held = holders.map((holder, index) =>
      constr(
        0,
        constr(0, bytes(new Uint8Array(32).fill(1)), new IntData(index)),
        output(
          constr(0, bytes(stranger.hash)),
          lovelace(terms.bond),
          holder.kind === 'inline' ? constr(2, bytes(holder.bytes)) : constr(1, bytes(holder.hash)),
        ),
      ),
    )
    const transaction = constr(
      0,
      new ListData(listOf<Data>([constr(0, reference, own)])),
      new ListData(listOf<Data>(held)),
      new ListData(listOf<Data>([refund])),
      new IntData(0),
      map([bytes(summons.policy), map([name, new IntData(-1)])]),
    )
    try {
      return run(constr(0, transaction, scriptDataOf(redeemer), constr(1, reference, none))) === unit
    } catch (error) {
      if (error instanceof Failure) return false
      throw error
    }
  }
}
