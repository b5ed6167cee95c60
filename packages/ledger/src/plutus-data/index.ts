export { isPlutusDataError, PlutusDataError } from '../errors.js'
export { bytesOf, constrOf, fieldsOf, integerOf, listOf } from './fields.js'
export {
  constr,
  decodePlutusData,
  encodePlutusData,
  type PlutusConstr,
  type PlutusData,
} from './plutus-data.js'
