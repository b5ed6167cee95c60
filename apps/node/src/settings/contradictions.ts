import type { Role, Settings } from './schema.js'

/** The roles that can be started today. */
export const startableRoles: readonly Role[] = ['all', 'api', 'tx-processor']

/** What is wrong with settings that are each in order, a sentence each. */
export function contradictions(settings: Settings): string[] {
  const { NODE_ROLE, NETWORK, DATABASE_URL, GENESIS_FILE } = settings
  const problems: string[] = []
  if (!startableRoles.includes(NODE_ROLE)) {
    problems.push(
      `NODE_ROLE is "${NODE_ROLE}": this role is not there yet; a node can be started as ${startableRoles.join(', ')}.`,
    )
  } else if (NODE_ROLE !== 'all' && DATABASE_URL === undefined) {
    problems.push(
      `NODE_ROLE is "${NODE_ROLE}" but DATABASE_URL is not set: the embedded store belongs to one process, so only the role "all" can do without PostgreSQL.`,
    )
  }
  if (NETWORK === 'mainnet' && GENESIS_FILE !== undefined) {
    problems.push(
      'GENESIS_FILE is set but NETWORK is "mainnet": a ledger of mainnet begins empty, genesis outputs are for test networks.',
    )
  }
  return problems
}
