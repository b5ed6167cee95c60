export { IndexError, type IndexErrorCode, isIndexError } from './errors.js'
export { openIndex } from './open-index.js'
export type * from './types.js'
export type { IndexedTransaction, IndexSource } from './types.js'
