import type { Environment, NodeFinding } from '@ratatosk/node'
import { command } from '../frame/command.js'
import { configArgument, withConfigFile } from '../settings/config-file.js'

export const checkCommand = command(
  'check',
  'Check everything that a node with these settings needs; creates nothing',
  configArgument,
  async ({ config }, { environment }) => {
    const findings = await findingsOf(await withConfigFile(config, environment))
    const ok = findings.every(({ status }) => status !== 'failed')
    return { value: { ok, findings }, lines: findings.map(lineOf), ok }
  },
)

async function findingsOf(environment: Environment): Promise<readonly NodeFinding[]> {
  const { checkEnvironment, isSettingsError, readSettings } = await import('@ratatosk/node')
  const subject = 'settings'
  // An older Node does not come here.
  const findings: NodeFinding[] = [{ subject: 'Node.js', status: 'ok', message: process.versions.node }]
  const onWarning = (message: string) => void findings.push({ subject, status: 'warning', message })
  try {
    const settings = readSettings(environment, onWarning)
    const { NODE_ROLE, NETWORK } = settings
    findings.push({ subject, status: 'ok', message: `valid, role ${NODE_ROLE} on ${NETWORK}` })
    return [...findings, ...(await checkEnvironment(settings))]
  } catch (error) {
    if (!isSettingsError(error)) throw error
    return [
      ...findings,
      ...error.problems.map((message) => ({ subject, status: 'failed' as const, message })),
    ]
  }
}

function lineOf({ subject, status, message }: NodeFinding): string {
  return `${status.toUpperCase().padEnd(7)}  ${subject}: ${message}`
}
