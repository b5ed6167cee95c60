import type { Environment, Manifest, Settings } from '@ratatosk/node'
import { command } from '../frame/command.js'
import { CommandError } from '../frame/errors.js'
import { configArgument, withConfigFile } from '../settings/config-file.js'

type NodeModule = typeof import('@ratatosk/node')
type Work = (node: NodeModule, settings: Settings) => Promise<Manifest>

const folderArguments = {
  folder: { type: 'positional', required: true, description: 'Folder of the backup' },
  ...configArgument,
} as const

/** `ratatosk backup` */
export const backup = command(
  'backup',
  'Save the store of a node to a new folder; a node on an embedded store must be stopped',
  folderArguments,
  async ({ folder, config }, { environment }) => {
    const work: Work = ({ backUp }, settings) => backUp(settings, folder)
    return resultOf('Saved', await withStore(work, await withConfigFile(config, environment)))
  },
)

/** `ratatosk restore` */
export const restore = command(
  'restore',
  'Restore a backup to an empty DATA_DIR, or to a database without the schemas; overwrites nothing',
  folderArguments,
  async ({ folder, config }, { environment }) => {
    const work: Work = (node, settings) => node.restore(settings, folder)
    return resultOf('Restored', await withStore(work, await withConfigFile(config, environment)))
  },
)

async function withStore(work: Work, environment: Environment): Promise<Manifest> {
  const node = await import('@ratatosk/node')
  try {
    return await work(node, node.readSettings(environment))
  } catch (error) {
    if (node.isSettingsError(error) || node.isStartError(error) || node.isBackupError(error))
      throw new CommandError(error.code, error.message)
    throw error
  }
}

function resultOf(done: string, manifest: Manifest) {
  const tables = Object.keys(manifest.rows).length
  const rows = Object.values(manifest.rows).reduce((sum, count) => sum + count, 0)
  const text = `${done}: ${manifest.store} store, ${rows} rows in ${tables} tables, digest ${manifest.digest}`
  return { value: manifest, text }
}
