import { command } from '../frame/command.js'
import { configArgument, withConfigFile } from '../settings/config-file.js'

/** `ratatosk start` */
export const start = command(
  'start',
  'Start a node in this process; with --json, its log is JSON',
  configArgument,
  async ({ config, json }, shell) => {
    const environment = await withConfigFile(config, shell.environment)
    const { runNode } = await import('@ratatosk/node')
    await runNode(json ? { ...environment, LOG_FORMAT: 'json' } : environment)
    return undefined
  },
)
