import { equalBytes } from '@ratatosk/cbor'
import { operatorInTurn, type RegistryDatum } from '@ratatosk/contracts'
import { createForwarder, type Forwarder } from '@ratatosk/follower/forwarder'
import { shareAnswers } from '@ratatosk/http'
import type { Log } from '@ratatosk/ports'
import { readRegistry } from '@ratatosk/protocol'
import { createOperations, type Operations, type Sequencer } from '@ratatosk/sequencer'
import type { Roots } from '@ratatosk/sequencer/roots'
import type { Settler } from '@ratatosk/sequencer/settler'
import type { ValidationWorker } from '@ratatosk/workers'
import { checkPeers, mergedBlock, type NodeFinding } from '../check/checks.js'
import { type NodeContext, present } from '../context.js'
import type { Settlement } from '../layer1/settlement.js'
import { cachesOutputs } from '../roles.js'
import type { Settings } from '../settings/schema.js'
import { cacheDirectory, type Storage } from '../storage/open-storage.js'
import { type Following, startFollowing } from './following.js'
import { type RootsCalls, startSequencer, warnUnregistered } from './sequencer.js'
import { startSettler } from './settler.js'
import { startValidation } from './validation.js'

/** The nodes that ARCHIVIST_PEERS names, as this process has last found them. */
interface Peers {
  /** How many did not serve this ledger when last asked; asks again behind the answer. */
  silent(): number
  read(): Promise<readonly NodeFinding[]>
}

/** Milliseconds between two requests to a peer. */
const everyMs = 15_000

/**
 * Asks the peers at once, and logs each change: an archive that has its blocks serves them without peers,
 * so it stays ready.
 */
export function watchPeers(
  settings: Pick<Settings, 'ARCHIVIST_PEERS' | 'NODE_ROLE' | 'HEALTH_PROBE_TIMEOUT_MS'>,
  settlement: Pick<Settlement, 'contracts' | 'reads'> | undefined,
  log: Pick<Log, 'info' | 'warn'>,
): Peers {
  let merged: string | undefined
  let silent: ReadonlySet<string> = new Set()

  const share = shareAnswers<readonly NodeFinding[]>(everyMs)

  async function ask(): Promise<readonly NodeFinding[]> {
    merged ??= settlement && (await mergedBlock(settlement.contracts, settlement.reads))
    const findings = await checkPeers(settings, settings.HEALTH_PROBE_TIMEOUT_MS / 2, merged)
    const now = new Set(findings.flatMap(({ status, message }) => (status === 'ok' ? [] : [message])))
    for (const message of now) if (!silent.has(message)) log.warn({}, `The peer ${message}`)
    if (silent.size > 0 && now.size === 0) log.info({}, 'All peers serve')
    silent = now
    return findings
  }

  const read = () => share('', ask)
  void read().catch(() => undefined)
  return {
    read,
    silent() {
      void read().catch(() => undefined)
      return silent.size
    },
  }
}

/** Upper bound of the time between two reads of the registry, in milliseconds. */
const maxReadEveryMs = 60_000

/** Starts to forward the mempool to the nodes of other operators, outside the turns of its own operator. */
function startForwarder(
  context: NodeContext,
  { store }: Storage,
  settlement: Settlement,
  sequencer: Sequencer,
): Forwarder | undefined {
  const { settings, log, onClose } = context
  if (settings.OPERATOR_PEERS === undefined) return undefined
  const isInTurn = turnOf(context, settlement)
  const forwarder = createForwarder({
    mempool: store.blocks,
    peers: settings.OPERATOR_PEERS,
    // Of the processes on one store, one forwards. With a fault, nothing is committed here.
    isNeeded: async () => sequencer.active && (sequencer.snapshot().fault !== null || !(await isInTurn())),
    log,
  })
  onClose(() => forwarder.close())
  return forwarder
}

/** Whether this operator is in turn. A registry holds for two turns, so it is read once in each. */
function turnOf(
  { keys, clock }: NodeContext,
  { layer1, contracts }: Pick<Settlement, 'layer1' | 'contracts'>,
): () => Promise<boolean> {
  const { turnLength } = contracts.parameters
  const own = present(keys.operator, 'operator').payment.hash
  const readEveryMs = Math.min(Number(turnLength), maxReadEveryMs)
  let registry: RegistryDatum | undefined
  let readAt = 0
  return async () => {
    if (performance.now() >= readAt) {
      readAt = performance.now() + readEveryMs
      try {
        const outputs = await layer1.utxosByUnit(contracts.scripts.registry.unit)
        registry = readRegistry(contracts, outputs)?.datum
      } catch {
        // Layer 1 is unavailable, of which the sequencer warns. To forward in the own turn does no harm.
      }
    }
    const scheduled = registry && operatorInTurn(registry, BigInt(Math.floor(clock())), turnLength)
    return scheduled !== undefined && equalBytes(scheduled.vkey, own)
  }
}

/** The work of a process beside its server; undefined for work that its role does not have. */
export interface Work {
  readonly validation: ValidationWorker | undefined
  readonly sequencer: Sequencer | undefined
  readonly roots: Roots | undefined
  readonly rootsCalls: (() => readonly RootsCalls[]) | undefined
  /** Pays withdrawals; undefined without a bridge. */
  readonly settler: Settler | undefined
  readonly forwarder: Forwarder | undefined
  /** Follows the blocks of layer 1, and removes invalid ones where it watches. */
  readonly following: Following | undefined
  /** Undefined if ARCHIVIST_PEERS names none. */
  readonly peers: Peers | undefined
  /** Runs operator operations on the active sequencer, in this process or another. */
  readonly operations: Operations
}

export async function startWork(
  context: NodeContext,
  storage: Storage,
  settlement: Settlement | undefined,
): Promise<Work> {
  const { settings, duties, server } = context
  const directory = cachesOutputs(duties) ? await cacheDirectory(context, storage) : undefined
  const validation = duties.validates ? await startValidation(context, storage) : undefined
  const sequencing =
    settlement && duties.sequences
      ? await startSequencer(context, storage, settlement, directory, validation)
      : undefined
  const { sequencer, roots, rootsCalls } = sequencing ?? {}
  if (settlement && sequencer) warnUnregistered(context, settlement, sequencer)
  const settler =
    settlement &&
    sequencing &&
    (await startSettler(context, storage, settlement, sequencing, settings.AUTO_PAY !== false))
  const forwarder = settlement && sequencer && startForwarder(context, storage, settlement, sequencer)
  const following = settlement && (await startFollowing(context, storage, settlement, directory))
  const peers = settings.ARCHIVIST_PEERS && watchPeers(settings, settlement, context.log)
  const operations = createOperations({
    queue: storage.queue,
    timeoutMs: settings.OPERATION_TIMEOUT_MS,
    intervalMs: settings.OPERATION_INTERVAL_MS,
    ...(sequencer && { sequencer }),
  })
  context.onClose(() => operations.close())
  // The server waits for requests, and requests that wait for an operation end when both are closed.
  server.addHook('preClose', (done) => {
    for (const part of [operations, sequencer]) part?.close().catch(() => undefined)
    done()
  })
  return { validation, sequencer, roots, rootsCalls, settler, forwarder, following, peers, operations }
}
