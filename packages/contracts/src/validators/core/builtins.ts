import {
  data as anything,
  DataConstr,
  IRNative,
  type PData,
  type PList,
  type PPair,
  type PType,
  pBool,
  pByteString,
  pData,
  perror,
  pInt,
  pmakeUnit,
  type Term,
} from '@harmoniclabs/plu-ts'
import {
  type Bool,
  type Bytes,
  type Constr,
  call,
  type Data,
  type Entries,
  type Entry,
  type Int,
  type List,
  type Unit,
} from './term.js'

/*
 * Builtin functions under their Plutus Core names, with their Plutus Core types.
 */

export const unConstrData = (value: Data): Constr => call(IRNative.unConstrData, value)
export const unMapData = (value: Data): Entries => call(IRNative.unMapData, value)
export const unListData = (value: Data): List => call(IRNative.unListData, value)
export const unIData = (value: Data): Int => call(IRNative.unIData, value)
export const unBData = (value: Data): Bytes => call(IRNative.unBData, value)
export const constrData = (index: Int, fields: List): Data => call(IRNative.constrData, index, fields)
export const mapData = (entries: Entries): Data => call(IRNative.mapData, entries)
export const listData = (items: List): Data => call(IRNative.listData, items)
export const iData = (value: Int): Data => call(IRNative.iData, value)
export const bData = (value: Bytes): Data => call(IRNative.bData, value)
/** Whether data is a list. */
export const isListData = (value: Data): Bool => {
  const [yes, no] = [boolean(true), boolean(false)]
  return call(IRNative.chooseData, value, no, no, yes, no, no)
}
const mkPairData = (key: Data, value: Data): Entry => call(IRNative.mkPairData, key, value)
export const equalsData = (a: Data, b: Data): Bool => call(IRNative.equalsData, a, b)
export const serialiseData = (value: Data): Bytes => call(IRNative.serialiseData, value)

export const fstPair = <A extends PType, B extends PType>(pair: Term<PPair<A, B>>): Term<A> =>
  call(IRNative.fstPair, pair)
export const sndPair = <A extends PType, B extends PType>(pair: Term<PPair<A, B>>): Term<B> =>
  call(IRNative.sndPair, pair)

export const headList = <T extends PData | PPair<PData, PData>>(items: Term<PList<T>>): Term<T> =>
  call(IRNative.headList, items)
export const tailList = <T extends PData | PPair<PData, PData>>(items: Term<PList<T>>): Term<PList<T>> =>
  call(IRNative.tailList, items)
export const nullList = <T extends PData | PPair<PData, PData>>(items: Term<PList<T>>): Bool =>
  call(IRNative.nullList, items)

export const addInteger = (a: Int, b: Int): Int => call(IRNative.addInteger, a, b)
export const subtractInteger = (a: Int, b: Int): Int => call(IRNative.subtractInteger, a, b)
export const multiplyInteger = (a: Int, b: Int): Int => call(IRNative.multiplyInteger, a, b)
export const divideInteger = (a: Int, b: Int): Int => call(IRNative.divideInteger, a, b)
export const modInteger = (a: Int, b: Int): Int => call(IRNative.modInteger, a, b)
export const equalsInteger = (a: Int, b: Int): Bool => call(IRNative.equalsInteger, a, b)
export const lessThanInteger = (a: Int, b: Int): Bool => call(IRNative.lessThanInteger, a, b)
export const lessThanEqualsInteger = (a: Int, b: Int): Bool => call(IRNative.lessThanEqualInteger, a, b)

export const appendByteString = (a: Bytes, b: Bytes): Bytes => call(IRNative.appendByteString, a, b)
export const consByteString = (byte: Int, rest: Bytes): Bytes => call(IRNative.consByteString, byte, rest)
export const indexByteString = (bytes: Bytes, index: Int): Int => call(IRNative.indexByteString, bytes, index)
export const sliceByteString = (start: Int, length: Int, bytes: Bytes): Bytes =>
  call(IRNative.sliceByteString, start, length, bytes)
export const lengthOfByteString = (bytes: Bytes): Int => call(IRNative.lengthOfByteString, bytes)
export const equalsByteString = (a: Bytes, b: Bytes): Bool => call(IRNative.equalsByteString, a, b)
/** Whether bytes come before others in lexicographic order. */
export const lessThanByteString = (a: Bytes, b: Bytes): Bool => call(IRNative.lessThanByteString, a, b)
/** Whether an Ed25519 signature is valid; fails for a key or signature of another length. */
export const verifyEd25519Signature = (publicKey: Bytes, message: Bytes, signature: Bytes): Bool =>
  call(IRNative.verifyEd25519Signature, publicKey, message, signature)
export const blake2b224 = (bytes: Bytes): Bytes => call(IRNative.blake2b_224, bytes)
export const blake2b256 = (bytes: Bytes): Bytes => call(IRNative.blake2b_256, bytes)
/** A number from its big-endian bytes. */
export const byteStringToInteger = (bytes: Bytes): Int =>
  call(IRNative.byteStringToInteger, boolean(true), bytes)
/** A number as big-endian bytes, filled up to `length`; fails if it does not fit, or is negative. */
export const integerToByteString = (length: number, value: Int): Bytes =>
  call(IRNative.integerToByteString, boolean(true), integer(length), value)

export const integer = (value: number | bigint): Int => pInt(value)
export const bytes = (value: Uint8Array): Bytes => pByteString(value)
export const boolean = (value: boolean): Bool => pBool(value)
export const unitValue = (): Unit => pmakeUnit()
export const emptyConstr = (index: number): Data => pData(new DataConstr(index, []))
export const fail = <T extends PType>(): Term<T> => perror(anything) as Term<PType> as Term<T>

const noData = (): List => call(IRNative.mkNilData, unitValue())
export const noEntries = (): Entries => call(IRNative.mkNilPairData, unitValue())

export const listOf = (...items: readonly Data[]): List =>
  items.reduceRight((rest, item) => prepend(item, rest), noData())
export const mapOf = (key: Data, value: Data): Data =>
  mapData(call(IRNative.mkCons, mkPairData(key, value), noEntries()))
export const prepend = <T extends PData | PPair<PData, PData>>(
  item: Term<T>,
  rest: Term<PList<T>>,
): Term<PList<T>> => call(IRNative.mkCons, item, rest)
