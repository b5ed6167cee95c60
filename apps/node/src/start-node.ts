import type { Store } from '@ratatosk/store'
import { createOperations, type Sequencer, type ValidationWorker } from '@ratatosk/workers'
import type { Logger } from 'pino'
import { startFollowing } from './archivist/start-following.js'
import { StartError } from './errors.js'
import { openFaucet } from './faucet/open-faucet.js'
import { globalsOf } from './globals.js'
import { checkKeys } from './layer1/keys.js'
import { openSettlement } from './layer1/open-settlement.js'
import { exampleAddress, type Genesis, loadGenesis } from './network/genesis.js'
import { networkOf } from './network/networks.js'
import { loadProtocolParameters } from './network/protocol-parameters.js'
import { ClosingStack } from './parts/closing-stack.js'
import { openParts, type Parts } from './parts/open-parts.js'
import { startValidation } from './parts/start-validation.js'
import { duties, hasFaucet } from './roles.js'
import { startSequencing } from './sequencing/start-sequencing.js'
import { buildServer } from './server/build-server.js'
import { listen } from './server/listen.js'
import { createLogger } from './server/logger.js'
import type { Settings } from './settings/schema.js'

export interface NodeOptions {
  /** Default: standard output, as LOG_LEVEL and LOG_FORMAT say. */
  readonly log?: Logger
  /** POSIX milliseconds of now, which validity intervals are judged by. Default: `Date.now`. */
  readonly clock?: () => number
}

/** A node that serves. */
export interface RunningNode {
  /** Where it is called, such as `http://127.0.0.1:3000`. */
  readonly url: string
  readonly settings: Settings
  /** Where its parts are, for people; without credentials. */
  readonly places: Parts['places'] & { readonly layer1?: string }
  /** Where block headers stand on layer 1; undefined for a role that has nothing to do with it. */
  readonly stateQueueAddress: string | undefined
  readonly genesis: GenesisReport | undefined
  /** The node's own; it closes it. */
  readonly store: Store
  /** Takes no more requests, finishes those under way and the batch under validation, closes everything. */
  close(): Promise<void>
}

/** What became of the genesis file. */
export interface GenesisReport {
  /** How many outputs the ledger began with. */
  readonly outputs: number
  /** Whether that was now, or at an earlier start. */
  readonly applied: boolean
  /** An address that owned some of them. */
  readonly example: string | undefined
}

/**
 * Starts a node: opens its parts, registers the plugins of its role and serves.
 *
 * @throws SettingsError where a file that the settings name cannot be used
 * @throws StartError where a part cannot be opened; whatever was opened before it is closed again
 *
 * @example
 * const node = await startNode(readSettings({ PORT: '0', DATA_DIR: '/tmp/ratatosk' }))
 * await fetch(`${node.url}/health/ready`)
 * await node.close()
 */
export async function startNode(settings: Settings, options: NodeOptions = {}): Promise<RunningNode> {
  const { log = createLogger(settings), clock = Date.now } = options
  const network = networkOf(settings.NETWORK)
  checkKeys(settings)
  const [parameters, genesis] = await Promise.all([
    loadProtocolParameters(settings),
    loadGenesis(settings, network),
  ])

  const closing = new ClosingStack()
  try {
    const parts = await openParts(settings, log, closing)
    const { bodies, validates, sequences, reachesLayer1 } = duties[settings.NODE_ROLE]
    const settlement = reachesLayer1 ? await openSettlement({ settings, parts, log }, closing) : undefined
    let report: GenesisReport | undefined
    let validation: ValidationWorker | undefined
    if (validates) {
      // The first validating process gives the ledger its beginning.
      if (genesis !== undefined) report = await applyGenesis(parts.store, genesis)
      validation = await startValidation({ settings, parts, parameters, network, clock, log }, closing)
    }
    const outputs = genesis?.outputs ?? []
    let sequencer: Sequencer | undefined
    if (settlement !== undefined && sequences) {
      sequencer = await startSequencing({ settings, parts, settlement, genesis: outputs, log }, closing)
    }
    if (settlement !== undefined && bodies === 'archive') {
      await startFollowing({ settings, parts, settlement, genesis: outputs, log }, closing)
    }
    const faucet =
      settlement !== undefined && hasFaucet(settings)
        ? openFaucet({ settings, parts, settlement, parameters, network, clock, log }, closing)
        : undefined
    const operations = createOperations({
      queue: parts.queue,
      timeoutMs: settings.OPERATION_TIMEOUT_MS,
      ...(sequencer && { sequencer }),
    })
    closing.defer(() => operations.close())

    const server = await buildServer({
      settings,
      network,
      parts,
      settlement,
      operations,
      faucet,
      globals: () => globalsOf(settings, validation, sequencer),
      log,
    })
    // Requests that wait for an operation end with it.
    closing.defer(async () => {
      await Promise.all([server.close(), operations.close(), sequencer?.close()])
    })
    const url = await listen(server, settings)
    return {
      url,
      settings,
      places: { ...parts.places, ...(settlement && { layer1: settlement.place }) },
      stateQueueAddress: settlement?.contracts.queue.addressText,
      genesis: report,
      store: parts.store,
      close: () => closing.close(),
    }
  } catch (error) {
    await closing.close().catch((err: unknown) => log.warn({ err }, 'Closing after a failed start'))
    throw error
  }
}

async function applyGenesis(store: Store, genesis: Genesis): Promise<GenesisReport> {
  try {
    const applied = await store.applyGenesis(genesis.outputs)
    return { outputs: genesis.outputs.length, applied, example: exampleAddress(genesis) }
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (code !== 'STORE_GENESIS_MISMATCH')
      throw new StartError('NODE_DATABASE', `The genesis cannot be applied: ${cause}`, { cause })
    throw new StartError(
      'NODE_GENESIS',
      `The ledger did not begin with the outputs of ${genesis.file === undefined ? "the devnet's genesis" : `GENESIS_FILE "${genesis.file}"`}: name the file that it began with, or start on an empty DATA_DIR or DATABASE_SCHEMA.`,
      { cause },
    )
  }
}
