import { toHex } from '@ratatosk/cbor'
import type { Block, HeldLease } from '@ratatosk/store'
import type { Settings } from './context.js'
import type { Session } from './session.js'
import type { BlockSnapshot, SequencerSnapshot, Step } from './types.js'

interface SnapshotSources {
  readonly settings: Settings
  readonly active: boolean
  readonly present: { readonly session: Session; readonly held: HeldLease } | undefined
  readonly lastStep: Step | undefined
}

/** The sequencer's in-memory state as JSON. */
export function snapshotOf({ settings, active, present, lastStep }: SnapshotSources): SequencerSnapshot {
  const { fault, activity, view } = present?.session.cycle ?? {}
  const local = view?.local
  const blocks = new Map(
    [...(local?.oldestUnmerged ?? []), ...(local?.unconfirmed ?? [])].map((block) => [block.height, block]),
  )
  return {
    holder: settings.holder,
    active,
    leaseExpiresAt: active ? (present?.held.lease.expiresAt.toISOString() ?? null) : null,
    activity: activity ?? null,
    lastStep: lastStep ?? null,
    fault: fault ? { code: fault.code, message: fault.message } : null,
    utxosRoot: local?.newest ? toHex(local.newest.utxosRoot) : null,
    confirmed: local?.confirmed ? toHex(local.confirmed.headerHash) : null,
    unmerged: [...blocks.values()].map(toSnapshot),
    rootUnit: settings.contracts.scripts.queue.unit,
    settings: Object.fromEntries(
      Object.entries(settings).filter(
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
    commitTransaction: toHex(commitTransaction.id),
    mergeTransaction: mergeTransaction ? toHex(mergeTransaction.id) : null,
  }
}
