export {
  bigintOf,
  compareBytes,
  concatBytes,
  equalBytes,
  fromHex,
  hexOrNull,
  plainBytes,
  toHex,
} from './bytes.js'
export { BytesMap, BytesSet } from './bytes-map.js'
export {
  CborError,
  type CborErrorCode,
  DecodeError,
  type DecodeErrorCode,
  isCborError,
  isDecodeError,
} from './errors.js'
export { Major } from './major.js'
export { normalForm } from './normal-form.js'
export { CborReader } from './reader.js'
export {
  type EnteredVariant,
  enterVariant,
  expectTag,
  isShortMap,
  located,
  nonEmpty,
  readEncoded,
  readList,
  readMapOf,
  readNullable,
  readRecord,
  readSet,
  readTaggedList,
  readVariant,
  type Variants,
} from './structure.js'
export { type CborLimits, defaultLimits } from './walk.js'
export { assertWellFormed, isWellFormed } from './well-formed.js'
export { CborWriter } from './writer.js'
