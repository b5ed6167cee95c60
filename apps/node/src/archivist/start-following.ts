import { join } from 'node:path'
import { createFollower, type Follower } from '@ratatosk/archivist/follower'
import { readStateQueue } from '@ratatosk/layer1'
import type { LedgerEntry } from '@ratatosk/store'
import type { Logger } from 'pino'
import type { Settlement } from '../layer1/open-settlement.js'
import type { ClosingStack } from '../parts/closing-stack.js'
import { directoryOf, type Parts } from '../parts/open-parts.js'
import type { Settings } from '../settings/schema.js'

export interface FollowingOptions {
  readonly settings: Settings
  readonly parts: Parts
  readonly settlement: Settlement
  /** The first outputs of the ledger. */
  readonly genesis: readonly LedgerEntry[]
  readonly log: Logger
}

/** Starts to keep an archive of the blocks that layer 1 shows, with bodies from the peers. */
export async function startFollowing(
  { settings, parts, settlement: { layer1, contracts }, genesis, log }: FollowingOptions,
  closing: ClosingStack,
): Promise<Follower> {
  const directory = await directoryOf(settings, parts, log, closing)
  const follower = await createFollower({
    chain: {
      async read(signal) {
        const utxos = await layer1.utxosAt(contracts.queue.addressText, { signal })
        const { roots, blocks, fault } = readStateQueue(contracts, utxos)
        const [root] = roots
        if (fault || root === undefined) {
          throw new Error(`The state queue is not sound: ${fault?.message ?? 'it has no root unit'}`)
        }
        return { confirmed: root.datum.state, blocks: blocks.map(({ datum }) => datum.header) }
      },
    },
    peers: peersOf(settings),
    archive: parts.store.archive,
    genesis,
    log,
    ...(directory !== undefined && { trieDir: join(directory, 'archive-outputs') }),
  })
  closing.defer(() => follower.close())
  return follower
}

function peersOf({ ARCHIVIST_PEERS = '' }: Settings): readonly string[] {
  return ARCHIVIST_PEERS.split(',').flatMap((peer) => peer.trim() || [])
}
