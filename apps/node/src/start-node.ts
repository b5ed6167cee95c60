import { checkedLater, checkOptions } from '@ratatosk/http'
import { type LedgerIndex, openIndex, readByReplica } from '@ratatosk/layer2/ledger-index'
import type { Store } from '@ratatosk/store'
import { Type } from '@sinclair/typebox'
import { requirePostgres } from './check/check-environment.js'
import { type ContextOptions, loadContext, type NodeContext } from './context.js'
import { StartError } from './errors.js'
import { checkStored, keepRules } from './layer1/check-stored.js'
import { contractsOf, openSettlement } from './layer1/settlement.js'
import { exampleAddress } from './network/network.js'
import { checkRows, type Node, type PluginRow } from './node.js'
import { plugins } from './plugins/table.js'
import { servesLayer2 } from './roles.js'
import { checkAddress } from './server/listen.js'
import { serve } from './server/serve.js'
import type { Settings } from './settings/schema.js'
import { indexSchema, openStorage, openSubmissions, type Storage } from './storage/open-storage.js'
import { openReplica } from './storage/replica.js'
import { atLedgerVersion } from './storage/stored-ledger.js'
import { openClientScripts } from './work/services.js'
import { startWork } from './work/start-work.js'

/** A node that serves requests. */
export interface RunningNode {
  /** Base URL, such as `http://127.0.0.1:3000`. */
  readonly url: string
  readonly settings: Settings
  /** Where its parts are, for people; without credentials. */
  readonly places: Storage['places'] & { readonly layer1?: string }
  /** Address of the state queue on layer 1; undefined for a role that does not use layer 1. */
  readonly stateQueueAddress: string | undefined
  /** Address of the wallet that pays for fraud proofs; undefined for a process that does not watch. */
  readonly watcherAddress: string | undefined
  readonly genesis: GenesisReport | undefined
  /** Reads the slot of the newest block of layer 1; undefined for a role that does not use layer 1. */
  readonly layer1Slot: (() => Promise<bigint>) | undefined
  /** The node closes it. */
  readonly store: Store
  /**
   * Stops accepting requests, finishes those in progress and the current validation batch, then closes all
   * parts.
   */
  close(): Promise<void>
}

/** The result of applying the genesis. */
export interface GenesisReport {
  /** Number of outputs that the ledger started with. */
  readonly outputs: number
  /** True if they were applied by this start, false if by an earlier one. */
  readonly applied: boolean
  /** Address of an owner of some of them. */
  readonly example: string | undefined
}

/** Options of {@link startNode}. */
export interface NodeOptions extends ContextOptions {
  /** Further plugins, registered after those of the node. */
  readonly plugins?: readonly PluginRow[]
}

const rules = {
  log: checkedLater,
  clock: Type.Optional(Type.Function([], Type.Unknown(), { expected: 'a function' })),
  plugins: Type.Optional(Type.Array(Type.Object({}), { expected: 'an array of rows of pluginRow' })),
}

/**
 * Starts a node: opens its parts, starts the workers of its role, registers the plugins of its role, and
 * listens.
 *
 * @throws TypeError if an option is wrong or does not exist
 * @throws SettingsError if a key or a file that the settings name is invalid
 * @throws StartError if a part cannot be opened; parts that were opened before are closed
 *
 * @example
 * const node = await startNode(readSettings({ PORT: '0', DATA_DIR: '/tmp/ratatosk' }))
 * await fetch(`${node.url}/health/ready`)
 * await node.close()
 */
export async function startNode(settings: Settings, options: NodeOptions = {}): Promise<RunningNode> {
  checkOptions('startNode', rules, options)
  const { plugins: further = [] } = options
  checkRows(further)
  const loaded = await loadContext(settings, options)
  const { server, log } = loaded
  try {
    log.info('Start: checking the settings, the address and the services')
    await checkAddress(settings)
    if (settings.DATABASE_URL !== undefined) await requirePostgres(settings, settings.DATABASE_URL)
    // Before the storage, because settings that cannot work must leave nothing behind.
    const expected = loaded.duties.reachesLayer1 ? contractsOf(loaded) : undefined
    const storage = await openStorage(loaded, (stored) => checkStored(loaded, stored))
    const context = await atLedgerVersion(loaded, storage.store)
    await keepRules(context, storage.store)
    const replica = await openReplica(context, storage.store)
    const contracts = context === loaded ? expected : expected && contractsOf(context)
    const { store, queue, places } = storage
    const genesis = await applyGenesis(context, storage)
    const settlement = contracts && (await openSettlement(context, storage, contracts))
    const work = await startWork(context, storage, settlement)
    const submissions = openSubmissions(settings, storage)
    const scripts = openClientScripts(context)
    const reads = replica?.store ?? store
    const parts = { ...context, ...work, store, reads, replica, queue, submissions, scripts, settlement }
    const hasIndex = servesLayer2(context.duties, settings)
    const node: Node = { ...parts, index: hasIndex ? await openLedgerIndex(parts) : undefined }
    const url = await serve(node, [...plugins, ...further])
    let closed: Promise<void> | undefined
    return {
      url,
      settings,
      places: { ...places, ...(settlement && { layer1: settlement.place }) },
      stateQueueAddress: settlement?.contracts.scripts.queue.addressText,
      watcherAddress: context.keys.watcher?.addressText,
      genesis,
      layer1Slot: settlement && (async () => (await settlement.layer1.tip()).slot),
      store,
      close: () => (closed ??= server.close()),
    }
  } catch (error) {
    await server.close().catch((err: unknown) => log.warn({ err }, 'Some parts failed to close'))
    throw error
  }
}

/** Applies the genesis to an empty ledger; only roles that validate do. */
async function applyGenesis(
  { genesis, duties, log }: NodeContext,
  { store }: Storage,
): Promise<GenesisReport | undefined> {
  if (genesis === undefined || !duties.validates) return undefined
  log.info('Start: comparing the ledger with the genesis')
  try {
    const applied = await store.applyGenesis(genesis.outputs)
    return { outputs: genesis.outputs.length, applied, example: exampleAddress(genesis) }
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (code !== 'STORE_GENESIS_MISMATCH')
      throw new StartError('NODE_DATABASE', `The genesis cannot be applied: ${cause}`, { cause })
    const file = genesis.file === undefined ? "the devnet's genesis" : `GENESIS_FILE "${genesis.file}"`
    throw new StartError(
      'NODE_GENESIS',
      `The ledger did not start with the outputs of ${file}. Set GENESIS_FILE to the file that it ` +
        'started with, or use an empty DATA_DIR or DATABASE_SCHEMA.',
      { cause },
    )
  }
}

/** Starts to follow acceptance. The index yields to validation. */
async function openLedgerIndex(node: Omit<Node, 'index'>): Promise<LedgerIndex> {
  const { settings, genesis, log, settlement, store, replica, validation, onClose } = node
  const schema = indexSchema(settings)
  const index = await openIndex({
    database: store.database,
    schema,
    source: store.changes,
    genesis: genesis?.outputs ?? [],
    bridge: settlement?.contracts.bridge?.place.script.hash,
    flush: replica !== undefined,
    busy: () => validation?.busy() ?? false,
    onError: (err) => log.warn({ err }, 'The index could not follow acceptance; trying again'),
  })
  onClose(() => index.close())
  if (replica === undefined) return index
  const { database, changes: source } = replica.store
  return readByReplica(index, { database, schema, source })
}
