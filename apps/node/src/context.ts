import { type BodyBudget, createBodyBudget } from '@ratatosk/follower'
import type { ProtocolParameters } from '@ratatosk/ledger'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { isSettingsError, SettingsError } from './errors.js'
import { type NodeKeys, readKeys } from './layer1/keys.js'
import {
  type LoadedGenesis,
  loadGenesis,
  loadProtocolParameters,
  type Network,
  networkOf,
} from './network/network.js'
import { type Duties, duties } from './roles.js'
import { createServer } from './server/create-server.js'
import { createLogger } from './server/logger.js'
import type { Settings } from './settings/schema.js'

export interface ContextOptions {
  /** Default: a logger to standard output, according to LOG_LEVEL and LOG_FORMAT. */
  readonly log?: Logger
  /** Current time in POSIX milliseconds, of validity intervals and an own devnet. Default: `Date.now`. */
  readonly clock?: () => number
}

/** The context that opens every part of a node. */
export interface NodeContext {
  readonly settings: Settings
  readonly duties: Duties
  readonly network: Network
  readonly keys: NodeKeys
  /** Protocol parameters of layer 2. */
  readonly parameters: ProtocolParameters
  readonly genesis: LoadedGenesis | undefined
  /** For the bodies of other operators, whatever part asks for them. */
  readonly bodyBudget: BodyBudget
  /** Current time in POSIX milliseconds. */
  readonly clock: () => number
  readonly log: Logger
  /** The HTTP server. Closing it closes every part. */
  readonly server: FastifyInstance
  /** Registers a part's close: in reverse order after the last answer, also if a later part fails to open. */
  onClose(close: () => Promise<unknown>): void
}

/** Reads all keys and files of the settings before anything is opened. @throws SettingsError */
export async function loadContext(
  settings: Settings,
  { log = createLogger(settings), clock = Date.now }: ContextOptions,
): Promise<NodeContext> {
  const network = networkOf(settings.NETWORK)
  const [keys, parameters, genesis] = await everyFault(
    (async () => readKeys(settings, network))(),
    loadProtocolParameters(settings),
    loadGenesis(settings, network),
  )
  const server = createServer(settings, log)
  return {
    settings,
    duties: duties[settings.NODE_ROLE],
    network,
    keys,
    parameters,
    genesis,
    bodyBudget: createBodyBudget(),
    clock,
    log,
    server,
    onClose: (close) => {
      server.addHook('onClose', async () => {
        await close()
      })
    },
  }
}

/** As `Promise.all`, but one error has the problems of all. @throws SettingsError */
async function everyFault<A, B, C>(...reads: [Promise<A>, Promise<B>, Promise<C>]): Promise<[A, B, C]> {
  const problems: string[] = []
  for (const result of await Promise.allSettled(reads))
    if (result.status === 'rejected' && isSettingsError(result.reason))
      problems.push(...result.reason.problems)
  if (problems.length > 0) throw new SettingsError(problems)
  return Promise.all(reads)
}

/** A part that the role of this node has. @throws TypeError if it has not */
export function present<T>(part: T | undefined, name: string): T {
  if (part === undefined) throw new TypeError(`a node of this role has no ${name}`)
  return part
}
