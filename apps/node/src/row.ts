import type { FastifyBaseLogger, FastifyPluginAsync, FastifyTypeProvider, RawServerDefault } from 'fastify'
import type { Node } from './node.js'
import type { Duties } from './roles.js'
import type { Settings } from './settings/schema.js'

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

/**
 * Makes a row of a plugin and checks its options against the plugin.
 *
 * @example
 * const row = pluginRow({
 *   plugin: txQuery,
 *   when: ({ serves }) => serves.includes('ledger'),
 *   options: ({ store }) => ({ ledger: store, network: 'testnet', prefix: '/second' }),
 * })
 * await startNode(settings, { plugins: [row] })
 */
export function pluginRow<Options extends object, Provider extends FastifyTypeProvider>({
  plugin,
  when,
  options,
}: PluginEntry<Options, Provider>): PluginRow {
  return {
    when,
    register: async (node) => {
      await node.server.register(plugin, await options(node))
    },
  }
}
