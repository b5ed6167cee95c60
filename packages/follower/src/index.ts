export type { NewArchivedBlock, WritableArchive } from '@ratatosk/block'
export { createFollower } from './create-follower.js'
export { FollowerError, type FollowerErrorCode, isFollowerError } from './errors.js'
export { type EvidenceFolder, type EvidenceOptions, openEvidence } from './evidence.js'
export { layer1Chain } from './read-layer1.js'
export { type RebuildOptions, rebuildUtxos } from './rebuild-utxos.js'
export type {
  ChainState,
  Follower,
  FollowerOptions,
  FollowerStatus,
  GenesisUtxo,
  InvalidBlock,
  InvalidBlockStatus,
  QueueReader,
  UnavailableBlock,
} from './types.js'
