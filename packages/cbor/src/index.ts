export {
  BytesMap,
  BytesSet,
  bigintOf,
  compareBytes,
  concatBytes,
  equalBytes,
  fromHex,
  hexOrNull,
  plainBytes,
  toHex,
} from './bytes.js'
export {
  CborError,
  type CborErrorCode,
  DecodeError,
  type DecodeErrorCode,
  isCborError,
  isDecodeError,
} from './errors.js'
export { CborReader, Major } from './reader.js'
export {
  type EnteredVariant,
  enterVariant,
  expectTag,
  isShortMap,
  located,
  nonEmpty,
  normalForm,
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
export { assertWellFormed, type CborLimits, defaultLimits, isWellFormed } from './well-formed.js'
export { CborWriter } from './writer.js'
