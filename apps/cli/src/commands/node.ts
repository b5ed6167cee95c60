import type { Environment, Manifest, NodeFinding, Settings } from '@ratatosk/node'
import { command } from '../frame/command.js'
import { CommandError } from '../frame/errors.js'
import { configArgument, readConfigFile, withConfigFile } from '../frame/files.js'

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

export const checkCommand = command(
  'check',
  'Check everything that a node with these settings needs; creates nothing',
  configArgument,
  async ({ config }, { environment }) => {
    const { complete, problems } = await readConfigFile(config, environment)
    const findings = await findingsOf(complete, problems)
    const ok = findings.every(({ status }) => status !== 'failed')
    return { value: { ok, findings }, lines: findings.map(lineOf), ok }
  },
)

/** @param faults of the file of settings */
async function findingsOf(
  environment: Environment,
  faults: readonly string[],
): Promise<readonly NodeFinding[]> {
  const { checkEnvironment, isSettingsError, readSettings } = await import('@ratatosk/node')
  const subject = 'settings'
  const failed = (message: string): NodeFinding => ({ subject, status: 'failed', message })
  // An older Node does not come here.
  const findings: NodeFinding[] = [
    { subject: 'Node.js', status: 'ok', message: process.versions.node },
    ...faults.map(failed),
  ]
  const onWarning = (message: string) => void findings.push({ subject, status: 'warning', message })
  try {
    const settings = readSettings(environment, onWarning)
    // Other settings than those that the file was to give.
    if (faults.length > 0) return findings
    const { NODE_ROLE, NETWORK } = settings
    findings.push({ subject, status: 'ok', message: `valid, role ${NODE_ROLE} on ${NETWORK}` })
    return [...findings, ...(await checkEnvironment(settings))]
  } catch (error) {
    if (!isSettingsError(error)) throw error
    return [...findings, ...error.problems.map(failed)]
  }
}

function lineOf({ subject, status, message }: NodeFinding): string {
  return `${status.toUpperCase().padEnd(7)}  ${subject}: ${message}`
}

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
      return { value, lines: [...lines, ...adviceOf(node, settings)] }
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
function adviceOf({ freeingQueue }: NodeModule, settings: Settings): readonly string[] {
  if (settings.DATABASE_URL === undefined && settings.REDIS_URL === undefined) return []
  return [
    'With a queue in Redis, the restored ledger needs a QUEUE_PREFIX of its own. If the original is lost, ' +
      `stop every process of it, and run ${freeingQueue(settings)}: this ledger then takes its queue over.`,
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
