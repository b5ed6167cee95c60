import type { Environment, Settings } from '@ratatosk/node'
import { CommandError } from '../frame/errors.js'

type NodeModule = typeof import('@ratatosk/node')

/** Works on the store of a node that does not serve. @throws CommandError */
export async function withStore<T>(
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
