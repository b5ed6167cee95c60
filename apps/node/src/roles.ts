import type { Role, Settings } from './settings/schema.js'

/** What a process serves beside `/health/*`, and what it runs. */
export interface Duties {
  /** `public`: what the document marks for `api` nodes; `whole`: every endpoint. */
  readonly serves: 'whole' | 'public' | 'nothing'
  /** The archivist interface: under `/archivist` from the node's own blocks, or at the root from an archive. */
  readonly bodies: 'own blocks' | 'archive' | 'none'
  readonly validates: boolean
  /** Commits and merges, and signs for it; may run the devnet. */
  readonly sequences: boolean
  readonly reachesLayer1: boolean
  /** Can do without PostgreSQL. */
  readonly embeds: boolean
}

const nothing: Duties = {
  serves: 'nothing',
  bodies: 'none',
  validates: false,
  sequences: false,
  reachesLayer1: false,
  embeds: false,
}

export const duties: Readonly<Record<Role, Duties>> = {
  all: {
    serves: 'whole',
    bodies: 'own blocks',
    validates: true,
    sequences: true,
    reachesLayer1: true,
    embeds: true,
  },
  api: { ...nothing, serves: 'public', reachesLayer1: true },
  'tx-processor': { ...nothing, validates: true },
  sequencer: { ...nothing, bodies: 'own blocks', sequences: true, reachesLayer1: true },
  archivist: { ...nothing, bodies: 'archive', reachesLayer1: true, embeds: true },
}

/** Whether this process pays claims of the faucet. */
export function hasFaucet({ NODE_ROLE, FAUCET_TOKEN, FAUCET_ENABLED }: Settings): boolean {
  return duties[NODE_ROLE].serves !== 'nothing' && FAUCET_TOKEN !== undefined && FAUCET_ENABLED
}
