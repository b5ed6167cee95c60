import { type Static, Type } from '@sinclair/typebox'
import type { NotedSchema } from './kinds.js'
import {
  accessSettings,
  endpointSettings,
  faucetSettings,
  ledgerSettings,
  roleSettings,
  serverSettings,
  storageSettings,
} from './node-settings.js'
import {
  archivistSettings,
  bridgeSettings,
  contractSettings,
  layer1Settings,
  sequencerSettings,
  watcherSettings,
} from './rollup-settings.js'

/** Every setting by group, in the order of the documentation. */
const settingGroups = {
  'Role and network': roleSettings,
  'Operator access': accessSettings,
  Storage: storageSettings,
  'Ledger and validation': ledgerSettings,
  'Layer 1': layer1Settings,
  Contracts: contractSettings,
  Bridge: bridgeSettings,
  Sequencer: sequencerSettings,
  Faucet: faucetSettings,
  Archivist: archivistSettings,
  Watcher: watcherSettings,
  'Optional endpoints': endpointSettings,
  'Server and logs': serverSettings,
}

/** Every setting, by the name of its environment variable. */
export const settingsSchema = Type.Object({
  ...roleSettings,
  ...accessSettings,
  ...storageSettings,
  ...ledgerSettings,
  ...layer1Settings,
  ...contractSettings,
  ...bridgeSettings,
  ...sequencerSettings,
  ...faucetSettings,
  ...archivistSettings,
  ...watcherSettings,
  ...endpointSettings,
  ...serverSettings,
})

/** The same, as tables and messages use it. */
export const settingNotes: ReadonlyMap<string, NotedSchema> = new Map(
  Object.entries(settingsSchema.properties as Record<string, NotedSchema>),
)

type Validated = Static<typeof settingsSchema>

/** The settings whose default depends on whether layer 1 is a devnet. */
export type NetworkDefaults = Pick<
  Validated,
  | 'AUTO_INIT'
  | 'BLOCK_VALIDITY_MS'
  | 'COMMIT_BUDGET_PER_HOUR'
  | 'COMMIT_INTERVAL_MS'
  | 'MATURITY_WINDOW_MS'
  | 'OPERATION_INTERVAL_MS'
  | 'OPERATOR_BOND'
  | 'SLASH_PENALTY'
>

/** Validated settings with all defaults. */
export type Settings = Validated & Required<NetworkDefaults>

export type NetworkName = Settings['NETWORK']
export type Role = Settings['NODE_ROLE']

/**
 * Documents all settings as Markdown: a heading and a table for each group.
 *
 * @example
 * settingsTables().split('\n')[0] // '## Role and network'
 */
export function settingsTables(): string {
  return Object.entries(settingGroups)
    .map(([title, settings]) => `## ${title}\n\n${tableOf(settings as Record<string, NotedSchema>)}`)
    .join('\n')
}

function tableOf(settings: Record<string, NotedSchema>): string {
  const rows = Object.entries(settings).map(([name, notes]) => [
    notes.secret ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``,
    defaultOf(notes),
    meaningOf(notes),
  ])
  const lines = [['variable', 'default', 'meaning'], ['---', '---', '---'], ...rows]
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`
}

function defaultOf(notes: NotedSchema): string {
  if (notes.defaultNote !== undefined) return notes.defaultNote
  return notes.default === undefined ? 'unset' : `\`${notes.default}\``
}

function meaningOf({ description, anyOf }: NotedSchema): string {
  const choices = anyOf === undefined ? '' : `: ${anyOf.map((each) => `\`${each.const}\``).join(', ')}`
  return `${description}${choices}`.replaceAll('|', '\\|')
}
