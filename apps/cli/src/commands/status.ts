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
  const { failing, oldestWaitingMs } = await readinessOf(client)
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
    ...(oldestWaitingMs && { oldestWaitingMs }),
    ...(overview && { role: overview.role, network: overview.network, version: overview.version }),
    ...(network && { network: network.network, version: network.versions.node }),
    ...(queue && { blocksInStateQueue: queue.headers.length }),
    ...(root && { stateQueue: root.status, stateQueueAddress: root.stateQueueAddress }),
    ...(wallet && { lovelaceBalance: wallet.lovelaceBalance }),
    ...(operators && { operators: operators.operators.length }),
  }
}

interface Readiness {
  /** The parts for which the node is not ready, and why. */
  readonly failing: readonly { readonly part: string; readonly reason: string }[]
  /** How long the oldest submission has waited, if that is long. */
  readonly oldestWaitingMs: number | undefined
}

async function readinessOf(client: Client): Promise<Readiness> {
  try {
    const { oldestWaitingMs } = await client.getReadiness({ retries: 0 })
    return { failing: [], oldestWaitingMs }
  } catch (error) {
    const body: unknown = error instanceof StatusError ? error.body : undefined
    const {
      failing,
      reasons = {},
      oldestWaitingMs,
    } = (typeof body === 'object' && body !== null ? body : {}) as {
      readonly failing?: unknown
      readonly reasons?: Readonly<Record<string, unknown>>
      readonly oldestWaitingMs?: unknown
    }
    if (!Array.isArray(failing) || !failing.every((part) => typeof part === 'string')) throw error
    return {
      failing: failing.map((part: string) => ({ part, reason: String(reasons[part] ?? 'not responding') })),
      oldestWaitingMs: typeof oldestWaitingMs === 'number' ? oldestWaitingMs : undefined,
    }
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
  if (status.oldestWaitingMs !== undefined)
    lines.push(
      `submissions     the oldest has waited for ${Math.round(status.oldestWaitingMs / 1000)} s: check ` +
        'that a process of role "tx-processor" runs, and with the same queue',
    )
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
