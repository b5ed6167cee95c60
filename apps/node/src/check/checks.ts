import { resolve } from 'node:path'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { embeddedFolder } from '@ratatosk/database/embedded'
import { isLayer1Error, type Layer1 } from '@ratatosk/layer1'
import { outputReferenceKey } from '@ratatosk/ledger'
import { type Contracts, isProtocolError, readStateQueue, soundRoot } from '@ratatosk/protocol'
import type { NodeContext } from '../context.js'
import { isStartError } from '../errors.js'
import { hostOf } from '../layer1/open-layer1.js'
import { contractsOf, registryIn, unregisteredLine } from '../layer1/settlement.js'
import { includedVersions } from '../network/network.js'
import { duties } from '../roles.js'
import { checkPlace } from '../server/listen.js'
import { maskedUrl } from '../settings/read.js'
import type { Settings } from '../settings/schema.js'
import { checkStoreAt } from '../storage/open-storage.js'
import { contextAt } from '../storage/stored-ledger.js'

type PeerSettings = Pick<Settings, 'ARCHIVIST_PEERS' | 'NODE_ROLE'>

const { ok, warning, failed } = about('peers')
/** The hash of the newest merged block before the first merge. No block has it. */
const noBlock = '0'.repeat(56)
const mend =
  'Start it, or correct ARCHIVIST_PEERS: an address ends with the path of these routes, /archivist.'

/**
 * Whether the peers have the routes of an archivist, and the blocks of this ledger. An archive without any of
 * them stays empty.
 *
 * @param merged hash of a merged block, which every peer has; see {@link mergedBlock}
 */
export async function checkPeers(
  { ARCHIVIST_PEERS = [], NODE_ROLE }: PeerSettings,
  timeoutMs = 5000,
  merged = noBlock,
): Promise<readonly NodeFinding[]> {
  const faults = await Promise.all(ARCHIVIST_PEERS.map((url) => faultOf(url, timeoutMs, merged)))
  const isEmpty = duties[NODE_ROLE].bodies === 'archive' && !faults.includes(undefined)
  return faults.map((fault, place) => {
    const name = maskedUrl(ARCHIVIST_PEERS[place] ?? '')
    if (fault === undefined) return ok(name)
    return (isEmpty ? failed : warning)(`${name} ${fault}`)
  })
}

async function faultOf(url: string, timeoutMs: number, block: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/block/${block}/header`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const reader = response.body?.getReader()
    const { value = new Uint8Array() } = (await reader?.read()) ?? {}
    await reader?.cancel()
    const text = Buffer.from(value).toString()
    if (text.includes(`Block not found: ${block}`))
      return block === noBlock
        ? undefined
        : `does not have block ${block}, which is merged on layer 1. Name a peer of this ledger in ` +
            'ARCHIVIST_PEERS, or wait until this one has caught up.'
    if (response.ok && text.includes(block)) return undefined
    return `is no archivist, it answers ${response.status}. ${mend}`
  } catch {
    return `does not answer. ${mend}`
  }
}

/** The hash of the newest merged block in hex; undefined if layer 1 does not show one. */
export async function mergedBlock(
  contracts: Contracts,
  layer1: Pick<Layer1, 'utxosByUnit'>,
): Promise<string | undefined> {
  try {
    const [root] = readStateQueue(contracts, await layer1.utxosByUnit(contracts.scripts.queue.unit)).roots
    const hash = root && toHex(root.datum.state.headerHash)
    return hash === noBlock ? undefined : hash
  } catch (error) {
    if (!isLayer1Error(error)) throw error
    return undefined
  }
}

/** The result of one check of what a node needs. */
export interface NodeFinding {
  /** The subject of the check, such as `PostgreSQL`. */
  readonly subject: string
  /** A node starts with a `warning`, but not or not correctly with a failure. */
  readonly status: 'ok' | 'warning' | 'failed'
  /** The finding and, unless it is `ok`, the remedy. Without credentials. */
  readonly message: string
}

/** Makes findings about one subject. */
export function about(subject: string) {
  return {
    ok: (message: string): NodeFinding => ({ subject, status: 'ok', message }),
    warning: (message: string): NodeFinding => ({ subject, status: 'warning', message }),
    failed: (message: string): NodeFinding => ({ subject, status: 'failed', message }),
  }
}

const onPort = about('devnet port')

/**
 * Whether this process can host the devnet of all processes on one PostgreSQL at DEVNET_PORT. The port of a
 * devnet of its own is checked with PORT.
 */
export async function checkDevnetPort({ settings, duties }: NodeContext): Promise<readonly NodeFinding[]> {
  const { HOST: host, DEVNET_PORT: port, DATABASE_URL, LAYER1_PROVIDER } = settings
  const mayHost = duties.sequences && LAYER1_PROVIDER === 'devnet' && DATABASE_URL !== undefined
  if (port === undefined || !mayHost) return []
  const hosted = await hostOf({ url: DATABASE_URL, schema: settings.DATABASE_SCHEMA })
  if (hosted?.endsWith(`:${port}`))
    return [
      onPort.ok(`a process of this database hosts the devnet at port ${port}, and this one would stand by`),
    ]
  try {
    await checkPlace({ host, port, setting: 'DEVNET_PORT' })
  } catch (error) {
    if (!isStartError(error)) throw error
    return [onPort.failed(error.message)]
  }
  if (hosted === undefined)
    return [onPort.ok(port === 0 ? `a free port of ${host}` : `port ${port} of ${host} is free`)]
  return [
    onPort.warning(
      `DEVNET_PORT is ${port}, but a process of this database hosts the devnet at ${hosted}: when this one ` +
        'takes over, archivists and watchers lose it. Set the same port.',
    ),
  ]
}

const onQueue = about('state queue')

type Reads = Pick<Layer1, 'utxosByUnit' | 'utxosByReferences'>

/** Whether layer 1 has the state queue of these settings, or lets a process begin it that has the keys. */
export async function checkStateQueue(context: NodeContext, layer1: Reads): Promise<readonly NodeFinding[]> {
  const faults: string[] = []
  for (const each of await contextsOfStart(context)) {
    const contracts = contractsOf(each)
    const fault = await faultOfQueue(contracts, layer1)
    if (fault === undefined)
      return [onQueue.ok('layer 1 has that of these contracts'), ...(await checkOperator(each, layer1))]
    const reason = mayBegin(context) ? await cannotBegin(contracts, layer1) : `${fault}.`
    if (reason === undefined) return [onQueue.ok('layer 1 has none yet, and one can begin')]
    faults.push(reason)
  }
  return faults.slice(0, 1).map(onQueue.failed)
}

/** Why layer 1 has no root of the contracts; undefined if it has. Blocks, which may be many, are not read. */
async function faultOfQueue(contracts: Contracts, layer1: Reads): Promise<string | undefined> {
  const queue = readStateQueue(contracts, await layer1.utxosByUnit(contracts.scripts.queue.unit))
  if (queue.roots.length > 0) return undefined
  try {
    soundRoot(queue)
    return undefined
  } catch (error) {
    if (!isProtocolError(error)) throw error
    return error.message
  }
}

/** Why no state queue of the contracts can begin, where layer 1 has none; undefined if one can. */
async function cannotBegin(contracts: Contracts, layer1: Reads): Promise<string | undefined> {
  const { scripts } = contracts
  const { deploymentOutput } = contracts.parameters
  const isUnspent = (await layer1.utxosByReferences([deploymentOutput])).length > 0
  // Later, as the registry spends the output.
  const registry = await registryIn(contracts, layer1)
  if (registry === undefined ? isUnspent : equalBytes(registry.datum.queue, scripts.queue.script.hash))
    return undefined
  return (
    `The deployment output ${outputReferenceKey(deploymentOutput)} is spent or never existed, and layer 1 ` +
    'has no state queue of these contracts: if it began a deployment, correct the settings that are ' +
    'parameters of its contracts, such as MATURITY_WINDOW_MS, or else name an unspent DEPLOYMENT_OUTPUT.'
  )
}

/** Warns if the operator of this process is not registered: a standby shows it only once it takes over. */
async function checkOperator(context: NodeContext, layer1: Reads): Promise<readonly NodeFinding[]> {
  const { operator } = context.keys
  const line = operator && (await unregisteredLine(contractsOf(context), layer1, operator.payment.hash))
  return line === undefined ? [] : [onQueue.warning(line)]
}

/** Whether this process has the keys with which a state queue begins. */
function mayBegin({ duties, keys }: NodeContext): boolean {
  const { signing } = keys.administrator ?? {}
  return duties.sequences && !(signing && 'absent' in signing)
}

/** The contexts with which a start may go on; none if it goes on with none, as another finding says. */
async function contextsOfStart(context: NodeContext): Promise<readonly NodeContext[]> {
  const { DATABASE_URL: url, DATABASE_SCHEMA: schema, DATA_DIR, NETWORK } = context.settings
  try {
    if (url !== undefined) {
      let began: number | undefined
      await checkStoreAt({ url, schema }, async ({ ledgerVersion }) => {
        began = ledgerVersion
      })
      return [await contextAt(context, began)]
    }
    if ((await embeddedFolder(resolve(DATA_DIR))) === undefined) return [context]
    // A check does not open it, so it does not know with which version it began.
    const others = await Promise.allSettled(
      includedVersions(NETWORK).map((began) => contextAt(context, began)),
    )
    const fitting = others.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    return [...new Set([context, ...fitting])]
  } catch (error) {
    if (!isStartError(error)) throw error
    return []
  }
}
