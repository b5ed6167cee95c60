import { fromHex } from '@ratatosk/cbor'
import type { DataValue } from '@ratatosk/ledger/plutus-data'
import { decodeAnyData } from '@ratatosk/ledger/plutus-data'
import { arrayOf } from '../any-encoding.js'
import { translate } from '../uplc/translate.js'
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
} from '../uplc/values.js'
import { stranger, summonsTerms as terms, type World } from '../world.js'
import { type Asked, datumOf, nameOf } from './scenarios.js'

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
