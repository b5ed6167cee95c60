import { checkOptions } from '@ratatosk/http'
import type { LedgerIndex } from '@ratatosk/layer2/ledger-index'
import type { Evaluator } from '@ratatosk/ledger/plutus'
import type { Turns } from '@ratatosk/ports'
import type { QueueBackend, SubmissionQueue } from '@ratatosk/queue'
import type { Store } from '@ratatosk/store'
import { Type } from '@sinclair/typebox'
import type { FastifyBaseLogger, FastifyPluginAsync, FastifyTypeProvider, RawServerDefault } from 'fastify'
import type { NodeContext } from './context.js'
import type { Settlement } from './layer1/settlement.js'
import type { Duties } from './roles.js'
import type { Settings } from './settings/schema.js'
import type { Replica } from './storage/replica.js'
import type { Work } from './work/start-work.js'

/** Runs scripts for clients that pay no fee for it; what serves them takes turns. */
export interface ClientScripts {
  readonly evaluator: Evaluator
  readonly turns: Turns
}

/** A node whose parts are open. The options of its plugins come from here. */
export interface Node extends NodeContext, Work {
  readonly store: Store
  /** Clients read the ledger here: the replica's store if there is one, otherwise the same. */
  readonly reads: Store
  readonly replica: Replica | undefined
  readonly queue: QueueBackend
  /** The queue as clients use it, with the limits of the settings. */
  readonly submissions: SubmissionQueue
  /** Runs scripts of transactions that are evaluated. */
  readonly scripts: ClientScripts
  /** Undefined for a role that does not serve the APIs of layer 2. */
  readonly index: LedgerIndex | undefined
  /** Undefined for a role that does not use layer 1. */
  readonly settlement: Settlement | undefined
}

/** A plugin of the node: which processes serve it, and with which options. */
export interface PluginEntry<Options extends object, Provider extends FastifyTypeProvider> {
  readonly plugin: FastifyPluginAsync<Options, RawServerDefault, Provider, FastifyBaseLogger>
  /** Whether a process of a role serves it. */
  readonly when: (duties: Duties, settings: Settings) => boolean
  /** Its options, from the open parts of the node. May open a part of its own. */
  readonly options: (node: Node) => Options | Promise<Options>
}

/** A row of the table of plugins. */
export interface PluginRow {
  readonly when: (duties: Duties, settings: Settings) => boolean
  readonly register: (node: Node) => Promise<void>
}

const call = Type.Function([], Type.Unknown(), { expected: 'a function' })
const entryRules = { plugin: call, when: call, options: call }
const rowRules = { when: call, register: call }

/** @throws {TypeError} names the first field of a row that is wrong, missing or does not exist */
export function checkRows(rows: readonly PluginRow[]): void {
  for (const [index, row] of rows.entries()) checkOptions(`startNode: plugins[${index}]`, rowRules, row)
}

/**
 * Makes a row of a plugin and checks its options against the plugin.
 *
 * @throws {TypeError} names the first field that is wrong, missing or does not exist
 *
 * @example
 * const row = pluginRow({
 *   plugin: txQuery,
 *   when: ({ serves }) => serves.includes('ledger'),
 *   options: ({ store }) => ({ ledger: store, network: 'testnet', prefix: '/second' }),
 * })
 * await startNode(settings, { plugins: [row] })
 */
export function pluginRow<Options extends object, Provider extends FastifyTypeProvider>(
  entry: PluginEntry<Options, Provider>,
): PluginRow {
  checkOptions('pluginRow', entryRules, entry)
  const { plugin, when, options } = entry
  return {
    when,
    register: async (node) => {
      await node.server.register(plugin, await options(node))
    },
  }
}
