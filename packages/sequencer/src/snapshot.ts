import { hexOrNull, toHex } from '@ratatosk/cbor'
import type { Contracts } from '@ratatosk/protocol'
import type { Block, Lease } from '@ratatosk/store'
import type { SequencerSettings } from './context.js'
import type { Cycle } from './cycle.js'
import type { BlockSnapshot, SequencerSnapshot, Step } from './types.js'

interface SnapshotSources {
  readonly options: SequencerSettings
  readonly contracts: Contracts
  readonly active: boolean
  readonly lease: Lease | undefined
  readonly cycle: Pick<Cycle, 'activity' | 'fault' | 'view'> | undefined
  readonly lastStep: Step | undefined
}

export function snapshotOf(sources: SnapshotSources): SequencerSnapshot {
  const { options, contracts, active, lease, cycle, lastStep } = sources
  const { fault, activity, view } = cycle ?? {}
  const local = view?.local
  const blocks = new Map(
    [...(local?.oldestUnmerged ?? []), ...(local?.unconfirmed ?? [])].map((block) => [block.height, block]),
  )
  return {
    holder: options.holder,
    active,
    leaseExpiresAt: lease?.expiresAt.toISOString() ?? null,
    activity: activity ?? null,
    lastStep: lastStep ?? null,
    fault: fault ? { code: fault.code, message: fault.message } : null,
    utxosRoot: hexOrNull(local?.newest?.utxosRoot),
    confirmed: hexOrNull(local?.confirmed?.headerHash),
    unmerged: [...blocks.values()].map(toSnapshot),
    rootUnit: contracts.scripts.queue.unit,
    settings: Object.fromEntries(
      Object.entries(options).filter(
        (entry): entry is [string, number | boolean] =>
          typeof entry[1] === 'number' || typeof entry[1] === 'boolean',
      ),
    ),
  }
}

function toSnapshot(block: Block): BlockSnapshot {
  const { height, headerHash, state, transactions, commitTransaction, mergeTransaction } = block
  return {
    height: Number(height),
    headerHash: toHex(headerHash),
    state,
    transactions,
    commitTransaction: hexOrNull(commitTransaction?.id),
    mergeTransaction: hexOrNull(mergeTransaction?.id),
  }
}
