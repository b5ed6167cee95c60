export type { PGliteLike } from './drivers/pglite.js'
export * from './errors.js'
export type * from './options.js'
export type * from './types.js'
