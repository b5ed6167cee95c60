export { type IndexReplica, openIndex, readByReplica } from './open-index.js'
export { IndexError, type IndexErrorCode, isIndexError } from './tables.js'
export type * from './types.js'
export type { IndexedTransaction, IndexSource } from './types.js'
