export type { NewArchivedBlock, WritableArchive } from '@ratatosk/block'
export { type BodyBudget, type BodyShare, createBodyBudget } from './body-budget.js'
export { createFollower } from './create-follower.js'
export { FollowerError, type FollowerErrorCode, isFollowerError } from './errors.js'
export { type EvidenceFolder, type EvidenceOptions, openEvidence } from './evidence.js'
export { layer1Chain } from './header-path.js'
export {
  type LedgerState,
  type LedgerStateOptions,
  openLedgerState,
  type RebuildOptions,
  rebuildUtxos,
} from './ledger-state.js'
export { callPeer, type PeerCall, type PeerHeader } from './peer-request.js'
export {
  type BodyQuestion,
  createPeers,
  type Peer,
  type PeerSettings,
  type Peers,
  peerAddress,
} from './peers.js'
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
