import type { ProtocolParameters } from '@ratatosk/ledger'
import type { Logger } from 'pino'
import { ClosingStack } from './closing-stack.js'
import { type NodeKeys, readKeys } from './layer1/keys.js'
import { type Genesis, loadGenesis } from './network/genesis.js'
import { type Network, networkOf } from './network/network.js'
import { loadProtocolParameters } from './network/protocol-parameters.js'
import { createLogger } from './server/logger.js'
import type { Settings } from './settings/schema.js'

export interface NodeOptions {
  /** Default: a logger to standard output, according to LOG_LEVEL and LOG_FORMAT. */
  readonly log?: Logger
  /** Current time in POSIX milliseconds, used to check validity intervals. Default: `Date.now`. */
  readonly clock?: () => number
}

/** What every part of a node is opened with. */
export interface NodeContext {
  readonly settings: Settings
  readonly network: Network
  readonly keys: NodeKeys
  /** Protocol parameters of layer 2. */
  readonly parameters: ProtocolParameters
  readonly genesis: Genesis | undefined
  /** Current time in POSIX milliseconds. */
  readonly clock: () => number
  readonly log: Logger
  /** Closes what was opened, also if a later part fails to open. */
  readonly closing: ClosingStack
}

/**
 * Reads all keys and files that the settings name, before anything is opened.
 *
 * @throws SettingsError
 */
export async function loadContext(
  settings: Settings,
  { log = createLogger(settings), clock = Date.now }: NodeOptions,
): Promise<NodeContext> {
  const network = networkOf(settings)
  const keys = readKeys(settings, network)
  const [parameters, genesis] = await Promise.all([
    loadProtocolParameters(settings),
    loadGenesis(settings, network),
  ])
  return { settings, network, keys, parameters, genesis, clock, log, closing: new ClosingStack() }
}
