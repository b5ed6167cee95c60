import type { Role, Settings } from './settings/schema.js'

/**
 * Routes that are served together. `public`: submissions, and what shows the node; `ledger`: reads of the
 * ledger; `commit`: `/commit`; `operations`: every other route of an operator; `faucet`: its claims.
 */
export type RouteGroup = 'public' | 'ledger' | 'commit' | 'operations' | 'faucet'

/** The routes of a process beside `/health/*`, and its work. */
export interface Duties {
  readonly serves: readonly RouteGroup[]
  /** The archivist API: the node's own blocks under `/archivist`, or an archive at the root. */
  readonly bodies: 'own blocks' | 'archive' | 'none'
  readonly validates: boolean
  /** Commits and merges blocks, and may host the devnet. */
  readonly sequences: boolean
  readonly reachesLayer1: boolean
  /** Can use an embedded store. */
  readonly embeds: boolean
}

const none: Duties = {
  serves: [],
  bodies: 'none',
  validates: false,
  sequences: false,
  reachesLayer1: false,
  embeds: false,
}

export const duties: Readonly<Record<Role, Duties>> = {
  all: {
    serves: ['public', 'ledger', 'commit', 'operations', 'faucet'],
    bodies: 'own blocks',
    validates: true,
    sequences: true,
    reachesLayer1: true,
    embeds: true,
  },
  // As the specification has it.
  api: { ...none, serves: ['public', 'commit', 'faucet'], reachesLayer1: true },
  reader: { ...none, serves: ['public', 'ledger'], bodies: 'own blocks', reachesLayer1: true },
  'tx-processor': { ...none, validates: true },
  // Its operator operates it: no other process of a split deployment has the keys.
  sequencer: {
    ...none,
    serves: ['commit', 'operations'],
    bodies: 'own blocks',
    sequences: true,
    reachesLayer1: true,
  },
  archivist: { ...none, bodies: 'archive', reachesLayer1: true, embeds: true },
  watcher: { ...none, bodies: 'archive', reachesLayer1: true, embeds: true },
}

/** Whether this process serves layer 2 by the APIs of layer 1, from an index of its own. */
export function servesLayer2({ serves }: Duties, { SERVE_LAYER2_APIS }: Settings): boolean {
  return serves.includes('ledger') && SERVE_LAYER2_APIS
}

/** Whether this process serves pages, which read what they show from it. */
export function servesConsole({ serves }: Duties, settings: Settings): boolean {
  return serves.includes('public') && settings.SERVE_CONSOLE && settings.SERVE_EXPLORER
}

/** Whether this process pays faucet claims. */
export function hasFaucet({ NODE_ROLE, FAUCET_TOKEN, FAUCET_ENABLED }: Settings): boolean {
  return duties[NODE_ROLE].serves.includes('faucet') && FAUCET_TOKEN !== undefined && FAUCET_ENABLED
}

/** Whether this process keeps what it can rebuild in DATA_DIR, beside a store in PostgreSQL. */
export function cachesOutputs({ sequences, bodies, reachesLayer1 }: Duties): boolean {
  return reachesLayer1 && (sequences || bodies === 'archive')
}

/** Whether this process removes invalid blocks by fraud proofs, or stands by to do so. */
export function watches({ NODE_ROLE, WATCHER_SEED_PHRASE }: Settings): boolean {
  if (NODE_ROLE === 'watcher') return true
  const { sequences, bodies } = duties[NODE_ROLE]
  return (sequences || bodies === 'archive') && WATCHER_SEED_PHRASE !== undefined
}
