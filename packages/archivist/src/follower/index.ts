export { verifyBody } from '../body/verify.js'
export { createFollower } from './create-follower.js'
export { type RebuildOptions, rebuildUtxos } from './rebuild-utxos.js'
export type * from './types.js'
