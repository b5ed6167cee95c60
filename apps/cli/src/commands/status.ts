import { type Client, NotFoundError, StatusError } from '@ratatosk/client'
import { ada } from '../frame/ada.js'
import { command } from '../frame/command.js'
import { connect, nodeArguments } from '../frame/node-connection.js'

export const status = command(
  'status',
  'Show whether a node is ready, its role, network, blocks and wallet',
  nodeArguments,
  async (args, shell) => {
    const value = await readStatus(await connect(args, shell))
    return { value, lines: linesOf(value), ok: value.ready }
  },
)

type NodeStatus = Awaited<ReturnType<typeof readStatus>>

/** Whether a node is ready, and what it serves of its state. */
export async function readStatus(client: Client) {
  // First, because it also shows whether anything answers.
  const failing = await failingParts(client)
  const served = <T>(answer: Promise<T>) => shownBy(answer, failing.length === 0)
  const [overview, network, operators, queue, root, wallet] = await Promise.all([
    served(client.getOverview()),
    served(client.getNetwork()),
    served(client.listOperators()),
    served(client.getStateQueue()),
    served(client.getRootUnitDiagnostics()),
    served(client.getCommitmentWalletBalance()),
  ])
  return {
    ready: failing.length === 0,
    failing: failing.map(({ part }) => part),
    reasons: Object.fromEntries(failing.map(({ part, reason }) => [part, reason])),
    ...(overview && { role: overview.role, network: overview.network, version: overview.version }),
    ...(network && { network: network.network, version: network.versions.node }),
    ...(queue && { blocksInStateQueue: queue.headers.length }),
    ...(root && { stateQueue: root.status, stateQueueAddress: root.stateQueueAddress }),
    ...(wallet && { lovelaceBalance: wallet.lovelaceBalance }),
    ...(operators && { operators: operators.operators.length }),
  }
}

/** The parts for which the node is not ready, and why. */
async function failingParts(client: Client): Promise<readonly { part: string; reason: string }[]> {
  try {
    await client.getReadiness({ retries: 0 })
    return []
  } catch (error) {
    const body: unknown = error instanceof StatusError ? error.body : undefined
    const { failing, reasons = {} } = (typeof body === 'object' && body !== null ? body : {}) as {
      readonly failing?: unknown
      readonly reasons?: Readonly<Record<string, unknown>>
    }
    if (!Array.isArray(failing) || !failing.every((part) => typeof part === 'string')) throw error
    return failing.map((part: string) => ({ part, reason: String(reasons[part] ?? 'not responding') }))
  }
}

/** Undefined if the node does not serve it in its role, or what it needs for it fails, as `failing` shows. */
async function shownBy<T>(answer: Promise<T>, isReady: boolean): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof NotFoundError) return undefined
    if (error instanceof StatusError && (error.status === 503 || (error.status >= 500 && !isReady)))
      return undefined
    throw error
  }
}

function linesOf(status: NodeStatus): readonly string[] {
  const lines = status.ready
    ? ['ready']
    : Object.entries(status.reasons).map(([part, reason]) => `not ready: ${part}: ${reason}`)
  const shown = lines.length
  if (status.role !== undefined) lines.push(`role            ${status.role}`)
  if (status.network !== undefined) lines.push(`network         ${status.network}, node ${status.version}`)
  if (status.stateQueue !== undefined)
    lines.push(`state queue     ${status.stateQueue}, ${status.stateQueueAddress}`)
  if (status.blocksInStateQueue !== undefined) lines.push(`unmerged blocks ${status.blocksInStateQueue}`)
  if (status.lovelaceBalance !== undefined) lines.push(`wallet          ${ada(status.lovelaceBalance)}`)
  if (status.operators !== undefined) lines.push(`operators       ${status.operators}`)
  if (status.ready && lines.length === shown)
    lines.push(
      'serves          nothing of its state, as the roles "tx-processor" and "archivist": ask another node',
    )
  return lines
}
