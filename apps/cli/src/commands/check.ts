import type { Environment, NodeFinding } from '@ratatosk/node'
import { command } from '../frame/command.js'
import { configArgument, readConfigFile } from '../settings/config-file.js'

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
