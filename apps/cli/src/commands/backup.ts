import type { Environment, Manifest, Settings } from '@ratatosk/node'
import { command } from '../frame/command.js'
import { CommandError } from '../frame/errors.js'
import { configArgument, withConfigFile } from '../settings/config-file.js'

const folderArguments = {
  folder: { type: 'positional', required: true, description: 'Folder of the backup' },
  ...configArgument,
} as const

export const backup = command(
  'backup',
  'Save the store of a node to a new folder; a node on an embedded store must be stopped',
  folderArguments,
  async ({ folder, config }, { environment }) => {
    const all = await withConfigFile(config, environment)
    return resultOf('Saved', await withStore(all, ({ backUp }, settings) => backUp(settings, folder)))
  },
)

export const restore = command(
  'restore',
  'Restore a backup to an empty DATA_DIR, or to a database without the schemas; overwrites nothing',
  folderArguments,
  async ({ folder, config }, { environment }) => {
    const all = await withConfigFile(config, environment)
    return withStore(all, async (node, settings) => {
      const { value, lines } = resultOf('Restored', await node.restore(settings, folder))
      return { value, lines: [...lines, ...adviceOf(settings)] }
    })
  },
)

function resultOf(done: string, manifest: Manifest) {
  const tables = Object.keys(manifest.rows).length
  const rows = Object.values(manifest.rows).reduce((sum, count) => sum + count, 0)
  const text = `${done}: ${manifest.store} store, ${rows} rows in ${tables} tables, digest ${manifest.digest}`
  return { value: manifest, lines: [text] }
}

/** How a restored ledger keeps from the queue of the original. */
function adviceOf({ DATABASE_URL, REDIS_URL, QUEUE_PREFIX }: Settings): readonly string[] {
  if (DATABASE_URL === undefined && REDIS_URL === undefined) return []
  return [
    'With a queue in Redis, the restored ledger needs a QUEUE_PREFIX of its own. If the original is lost ' +
      'and this one is to take its queue over, stop every process of the original, and delete the key ' +
      `"${QUEUE_PREFIX}:ledger" in Redis.`,
  ]
}

type NodeModule = typeof import('@ratatosk/node')

/** Works on the store of a node that does not serve. @throws CommandError */
async function withStore<T>(
  environment: Environment,
  work: (node: NodeModule, settings: Settings) => Promise<T>,
): Promise<T> {
  const node = await import('@ratatosk/node')
  try {
    return await work(node, node.readSettings(environment))
  } catch (error) {
    if (node.isSettingsError(error) || node.isStartError(error) || node.isBackupError(error))
      throw new CommandError(error.code, error.message)
    throw error
  }
}
