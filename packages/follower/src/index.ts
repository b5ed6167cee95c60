export type { NewArchivedBlock, WritableArchive } from '@ratatosk/block'
export { type BodyBudget, type BodyShare, createBodyBudget } from './body-budget.js'
export { createFollower } from './create-follower.js'
export { FollowerError, type FollowerErrorCode, isFollowerError } from './errors.js'
export { type EvidenceFolder, type EvidenceOptions, openEvidence } from './evidence.js'
export type { PeerHeader } from './peer-answers.js'
export { callPeer, type PeerCall } from './peer-request.js'
export {
  type BodyQuestion,
  createPeers,
  type Peer,
  type PeerSettings,
  type Peers,
  peerAddress,
} from './peers.js'
export { layer1Chain } from './read-layer1.js'
export { type RightBody, verifyReadings } from './readings.js'
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
