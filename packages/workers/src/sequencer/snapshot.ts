import { toHex } from '@ratatosk/ledger'
import type { Block } from '@ratatosk/store'
import type { HeldLease } from './hold-lease.js'
import type { Settings } from './life/work.js'
import type { Session } from './session.js'
import type { BlockSnapshot, SequencerSnapshot, Step } from './types.js'

interface Facts {
  readonly settings: Settings
  readonly active: boolean
  readonly present: { readonly session: Session; readonly held: HeldLease } | undefined
  readonly lastStep: Step | undefined
}

export function snapshotOf({ settings, active, present, lastStep }: Facts): SequencerSnapshot {
  const { fault, doing, standing } = present?.session.watch ?? {}
  const local = standing?.local
  const blocks = new Map(
    [...(local?.oldest ?? []), ...(local?.flying ?? [])].map((each) => [each.height, each]),
  )
  return {
    holder: settings.holder,
    active,
    leaseExpiresAt: active ? (present?.held.lease.expiresAt.toISOString() ?? null) : null,
    doing: doing ?? null,
    lastStep: lastStep ?? null,
    fault: fault ? { code: fault.code, message: fault.message } : null,
    utxosRoot: local?.newest ? toHex(local.newest.utxosRoot) : null,
    confirmed: local?.confirmed ? toHex(local.confirmed.headerHash) : null,
    unmerged: [...blocks.values()].map(toSnapshot),
    rootUnit: settings.contracts.queue.unit,
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
