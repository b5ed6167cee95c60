export { type PublicWallet, type TestWallets, testGenesis, testWallets } from '@ratatosk/devnet'
export { backUp, type Manifest, restore } from './backup/backup.js'
export { type CheckOptions, checkEnvironment } from './check/check-environment.js'
export type { NodeFinding } from './check/checks.js'
export {
  BackupError,
  isBackupError,
  isSettingsError,
  isStartError,
  SettingsError,
  StartError,
  type StartErrorCode,
} from './errors.js'
export { type Deployment, openDeployment } from './layer1/open-deployment.js'
export type { Node } from './node.js'
export { type PluginEntry, type PluginRow, pluginRow } from './node.js'
export type { Duties } from './roles.js'
export { runNode } from './run-node.js'
export { type Environment, nearestSetting, readSettings } from './settings/read.js'
export {
  type NetworkName,
  type Role,
  type Settings,
  settingsSchema,
  settingsTables,
} from './settings/schema.js'
export { type GenesisReport, type NodeOptions, type RunningNode, startNode } from './start-node.js'
export { freeingQueue } from './storage/stored-ledger.js'
