export { isPlutusDataError, PlutusDataError } from '../errors.js'
export type { DataValue } from '../plutus/cek/values/data.js'
/** The CBOR of any Plutus data as the builtin `serialiseData` writes it. */
export { encodeData as encodeAnyData } from '../plutus/cek/values/data.js'
export type { LinkedList } from '../plutus/cek/values/list.js'
/** Readers of what {@link decodeAnyData} returns. */
export * as byPosition from './by-position.js'
export {
  bytesOf,
  constr,
  constrOf,
  decodeAnyData,
  decodePlutusData,
  encodePlutusData,
  fieldsOf,
  integerOf,
  listOf,
  type PlutusConstr,
  type PlutusData,
} from './plutus-data.js'
