export type { PGliteLike, PostgresOptions } from '@ratatosk/database'
export type { BlockState } from '@ratatosk/ports'
export type * from './blocks/types.js'
export * from './errors.js'
export type { HeldLease, Lease, Leases } from './leases/types.js'
export type * from './ledger/types.js'
export { openStore } from './open-store.js'
export type * from './options.js'
export type {
  BlockPlace,
  BlockPosition,
  ChainBlock,
  ChainQueries,
  SequencePart,
} from './queries/chain.js'
export type * from './queries/changes.js'
export type { AcceptedPlace } from './queries/place-of-transaction.js'
export type * from './rejections/types.js'
export type * from './resubmissions/types.js'
export type { StoreWarning } from './server-settings.js'
export type * from './store.js'
