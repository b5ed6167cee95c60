export type * from './ports.js'
export type * from './types.js'
