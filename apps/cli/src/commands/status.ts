import { type Client, NotFoundError, StatusError } from '@ratatosk/client'
import { command } from '../frame/command.js'
import { connect, identityOf, nodeArguments } from '../frame/node-connection.js'
import { ada } from '../frame/text.js'

export const status = command(
  'status',
  'Show whether a node is ready, its role, network, blocks and wallet',
  nodeArguments,
  async (args, shell) => {
    const { operator, ...known } = await identityOf(args, shell)
    const value: NodeStatus = { ...known, ...(await readStatus(await connect(args, shell), operator)) }
    return { value, lines: linesOf(value), ok: value.ready }
  },
)

type NodeStatus = Awaited<ReturnType<typeof readStatus>>

/**
 * Whether a node is ready, and what it serves of its state.
 * @param own the key hash of its operator, if it commits
 */
export async function readStatus(client: Client, own?: string) {
  // First, because it also shows whether anything answers.
  const { failing, oldestWaitingMs, silentPeers } = await readinessOf(client)
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
    ...(silentPeers && { silentPeers }),
    ...(overview && { role: overview.role, network: overview.network, version: overview.version }),
    ...(network && { network: network.network, version: network.versions.node }),
    ...(queue && { blocksInStateQueue: queue.headers.length }),
    ...(root && { stateQueue: root.status, stateQueueAddress: root.stateQueueAddress }),
    ...(wallet && { lovelaceBalance: wallet.lovelaceBalance }),
    ...(operators && { operators: operators.operators.length }),
    ...(own &&
      operators &&
      root?.status === 'ok' && {
        registered: operators.operators.some(({ operatorKey }) => operatorKey === own),
      }),
  }
}

interface Readiness {
  /** The parts for which the node is not ready, and why. */
  readonly failing: readonly { readonly part: string; readonly reason: string }[]
  /** How long the oldest submission has waited, if that is long. */
  readonly oldestWaitingMs: number | undefined
  /** How many of its ARCHIVIST_PEERS do not serve. */
  readonly silentPeers: number | undefined
}

async function readinessOf(client: Client): Promise<Readiness> {
  try {
    return { failing: [], ...countsOf(await client.getReadiness({ retries: 0 })) }
  } catch (error) {
    const body = error instanceof StatusError ? error.body : undefined
    const { failing, reasons = {} } = Object(body) as {
      readonly failing?: unknown
      readonly reasons?: Readonly<Record<string, unknown>>
    }
    if (!Array.isArray(failing) || !failing.every((part) => typeof part === 'string')) throw error
    return {
      failing: failing.map((part: string) => ({ part, reason: String(reasons[part] ?? 'not responding') })),
      ...countsOf(body),
    }
  }
}

function countsOf(body: unknown): Omit<Readiness, 'failing'> {
  const { oldestWaitingMs, silentPeers } = Object(body) as Readonly<Record<string, unknown>>
  const numberOf = (value: unknown) => (typeof value === 'number' ? value : undefined)
  return { oldestWaitingMs: numberOf(oldestWaitingMs), silentPeers: numberOf(silentPeers) }
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
  if (status.silentPeers !== undefined)
    lines.push(
      `peers           without blocks of this ledger: ${status.silentPeers} of its ARCHIVIST_PEERS; ` +
        'its log and `ratatosk check` name them',
    )
  if (status.role !== undefined) lines.push(`role            ${status.role}`)
  if (status.network !== undefined) lines.push(`network         ${status.network}, node ${status.version}`)
  if (status.stateQueue !== undefined)
    lines.push(`state queue     ${status.stateQueue}, ${status.stateQueueAddress}`)
  if (status.blocksInStateQueue !== undefined) lines.push(`unmerged blocks ${status.blocksInStateQueue}`)
  if (status.lovelaceBalance !== undefined) lines.push(`wallet          ${ada(status.lovelaceBalance)}`)
  if (status.operators !== undefined) {
    const lack = status.registered === false ? ", without this node's: `ratatosk operator register`" : ''
    lines.push(`operators       ${status.operators}${lack}`)
  }
  return lines
}
