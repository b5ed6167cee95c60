export { isPlutusDataError, PlutusDataError } from '../errors.js'
export type { DataValue } from '../plutus/cek/values/data.js'
/** The CBOR of any Plutus data as the builtin `serialiseData` writes it. */
export { encodeData as encodeAnyData } from '../plutus/cek/values/data-cbor.js'
export type { LinkedList } from '../plutus/cek/values/list.js'
export { decodeAnyData } from './any-data.js'
/** Readers of what {@link decodeAnyData} returns. */
export * as byPosition from './by-position.js'
export { bytesOf, constrOf, fieldsOf, integerOf, listOf } from './fields.js'
export {
  constr,
  decodePlutusData,
  encodePlutusData,
  type PlutusConstr,
  type PlutusData,
} from './plutus-data.js'
