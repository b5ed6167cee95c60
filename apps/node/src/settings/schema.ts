import { type Static, Type } from '@sinclair/typebox'
import type { NotedSchema } from './kinds.js'
import { accessSettings, ledgerSettings, roleSettings, storageSettings } from './node-settings.js'
import {
  archivistSettings,
  contractSettings,
  faucetSettings,
  layer1Settings,
  sequencerSettings,
  watcherSettings,
} from './rollup-settings.js'
import { endpointSettings, serverSettings } from './server-settings.js'

/** Every setting by group, in the order of the documentation. */
export const settingGroups = {
  'Role and network': roleSettings,
  'Operator access': accessSettings,
  Storage: storageSettings,
  'Ledger and validation': ledgerSettings,
  'Layer 1': layer1Settings,
  Contracts: contractSettings,
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
>

/** Validated settings with all defaults. */
export type Settings = Validated & Required<NetworkDefaults>

export type NetworkName = Settings['NETWORK']
export type Role = Settings['NODE_ROLE']
