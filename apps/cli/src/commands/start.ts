import { command } from '../frame/command.js'
import { configArgument, withConfigFile } from '../settings/config-file.js'

export const start = command(
  'start',
  'Start a node in this process; with --json, its log is JSON',
  configArgument,
  async ({ config, json }, shell) => {
    const environment = await withConfigFile(config, shell.environment)
    const { loadNode } = await import('@ratatosk/node/bundled')
    const { runNode, keepCode } = await loadNode()
    await runNode(json ? { ...environment, LOG_FORMAT: 'json' } : environment, json)
    keepCode()
    return undefined
  },
)
