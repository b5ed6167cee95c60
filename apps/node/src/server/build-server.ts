import { archiveOfBlocks, archivist } from '@ratatosk/archivist'
import { deadLetters } from '@ratatosk/dead-letters'
import { evaluate } from '@ratatosk/evaluate'
import { events } from '@ratatosk/events'
import { faucet } from '@ratatosk/faucet'
import { health } from '@ratatosk/health'
import {
  httpErrors,
  limitedServer,
  type OperatorAccess,
  type ServerLimits,
  serverLimits,
} from '@ratatosk/http'
import { docs } from '@ratatosk/openapi'
import { operator } from '@ratatosk/operator'
import { proofs } from '@ratatosk/proofs'
import { createSubmissionQueue } from '@ratatosk/queue'
import { stateQueue } from '@ratatosk/state-queue'
import type { Store } from '@ratatosk/store'
import { submit } from '@ratatosk/submit'
import { type LedgerQueries, txQuery } from '@ratatosk/tx-query'
import { txStatus } from '@ratatosk/tx-status'
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { NodeContext } from '../context.js'
import type { Settlement } from '../layer1/settlement.js'
import { layer2Url, serveLayer2 } from '../layer2/serve.js'
import { duties } from '../roles.js'
import type { Settings } from '../settings/schema.js'
import type { Work } from '../start-work.js'
import type { Storage } from '../storage/open-storage.js'
import { description } from './api-description.js'
import { allowOrigins } from './cross-origin.js'
import { deadLettersOf } from './dead-letters.js'
import { landingPage } from './landing-page.js'
import { identifyRequests, requestIds } from './requests.js'
import { commitmentWallet, rootUnitsOf, stateQueueOf } from './settlement-ports.js'
import { queuedSubmissionsOf } from './status-ports.js'

/**
 * Builds the HTTP server with the plugins of the node's role. The caller closes it, and the parts behind it.
 */
export async function buildServer(
  context: NodeContext,
  storage: Storage,
  settlement: Settlement | undefined,
  work: Work,
): Promise<FastifyInstance> {
  const { settings, network, log } = context
  const { store, queue } = storage
  const { serves, bodies } = duties[settings.NODE_ROLE]
  const loggerInstance: FastifyBaseLogger = log
  const limits = limitsOf(settings)
  const server = fastify({
    ...limitedServer(limits),
    loggerInstance,
    // Two log lines cost more than many requests do. The error handler logs failures.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIds(settings.TRUST_PROXY),
    trustProxy: settings.TRUST_PROXY,
    ...(work.index !== undefined && { rewriteUrl: layer2Url }),
  })

  identifyRequests(server, settings)
  // First, so that pages can read the refusals of what follows.
  await allowOrigins(server, settings)
  await server.register(serverLimits, limits)
  await server.register(httpErrors)
  landingPage(server)
  if (settings.DOCS && (serves !== 'nothing' || bodies !== 'none')) await server.register(docs, description)
  await server.register(health, {
    probes: {
      database: (signal) => store.ping(signal),
      queue: (signal) => queue.ping(signal),
      ...(settlement && {
        layer1: async (signal) => {
          await settlement.reads.tip({ signal })
        },
      }),
      ...(work.follower && { blocks: () => noInvalidBlock(work.follower) }),
    },
    probeTimeoutMs: settings.HEALTH_PROBE_TIMEOUT_MS,
    ...(work.follower && { counters: { invalidBlocks: () => work.follower?.status().invalidBlocks ?? 0 } }),
  })
  const submissions = createSubmissionQueue(queue, {
    maxWaiting: settings.QUEUE_MAX_WAITING,
    maxWaitingBytes: settings.QUEUE_MAX_WAITING_BYTES,
  })
  if (serves !== 'nothing') {
    await server.register(submit, {
      queue: submissions,
      maxTransactionSize: settings.MAX_TX_SIZE,
    })
  }
  const maturity = settlement && {
    maturityWindowMs: Number(settlement.contracts.parameters.maturityWindow),
  }
  if (serves !== 'nothing' && settings.TX_STATUS) {
    await server.register(txStatus, {
      ...maturity,
      ledger: store,
      rejections: store.rejections,
      queue: queuedSubmissionsOf(submissions),
      removals: store.resubmissions,
    })
  }
  if (serves !== 'nothing' && settings.EVENTS) {
    await server.register(events, {
      ...maturity,
      log: store.events,
      network: network.kind,
      maxClients: settings.EVENTS_MAX_CLIENTS,
    })
  }
  if (serves === 'whole') {
    await server.register(txQuery, { ledger: ledgerOf(store), network: network.kind })
    if (work.evaluations !== undefined) {
      await server.register(evaluate, {
        evaluations: work.evaluations,
        maxTransactionSize: settings.MAX_TX_SIZE,
      })
    }
    if (work.index !== undefined) await serveLayer2(server, context, storage, work.index, submissions)
    if (work.prover !== undefined) await server.register(proofs, { prover: work.prover })
    await server.register(deadLetters, {
      ...operatorAccess(settings),
      deadLetters: deadLettersOf(store, submissions),
    })
  }
  if (settlement !== undefined && serves !== 'nothing') {
    await registerSettlement(server, context, storage, settlement, work)
  }
  if (work.faucet !== undefined && settings.FAUCET_TOKEN !== undefined) {
    await server.register(faucet, {
      token: settings.FAUCET_TOKEN,
      network: network.kind,
      payer: work.faucet,
    })
  }
  if (bodies === 'own blocks') {
    await server.register(archivist, { archive: archiveOfBlocks(store.blocks), prefix: '/archivist' })
  }
  if (bodies === 'archive') {
    const { evidence } = work
    await server.register(archivist, { archive: store.archive, ...(evidence && { evidence }) })
  }
  return server
}

/** Rejects while layer 1 shows a block that breaks the ledger's rules. */
async function noInvalidBlock(follower: Work['follower']): Promise<void> {
  const { invalid, invalidBlocks = 0 } = follower?.status() ?? {}
  if (invalid === undefined) return
  const { height, reason } = invalid
  throw new Error(`Block ${height} is invalid: ${reason} (invalid blocks since the start: ${invalidBlocks})`)
}

function limitsOf(settings: Settings): ServerLimits {
  return {
    requestTimeoutMs: settings.REQUEST_TIMEOUT_MS,
    stallTimeoutMs: settings.STALL_TIMEOUT_MS,
    keepAliveTimeoutMs: settings.KEEP_ALIVE_TIMEOUT_MS,
    maxConnections: settings.MAX_CONNECTIONS,
    // Says whether the process is up, however busy it is.
    alwaysServed: ['/health/live'],
  }
}

/** Who may reach the operator's routes. */
function operatorAccess({ HOST, PUBLIC_HOSTS = [], OPERATOR_TOKEN }: Settings): OperatorAccess {
  return {
    allowedHosts: [HOST, ...PUBLIC_HOSTS],
    ...(OPERATOR_TOKEN !== undefined && { operatorToken: OPERATOR_TOKEN }),
  }
}

type ResultKind = Awaited<ReturnType<Work['operations']['run']>>['kind']

/** Results of operations that changed layer 1. */
const changesLayer1: ReadonlySet<ResultKind> = new Set<ResultKind>([
  'initiated',
  'committed',
  'merged',
  'repaired',
  'reset',
  'removed',
])

/**
 * Registers the state queue and the operator endpoints; an `api` node serves the part that needs only layer
 * 1, and `/commit`.
 */
async function registerSettlement(
  server: FastifyInstance,
  { settings, keys }: NodeContext,
  { store }: Storage,
  settlement: Settlement,
  work: Work,
): Promise<void> {
  const whole = duties[settings.NODE_ROLE].serves === 'whole'
  const access = operatorAccess(settings)
  const run: Work['operations']['run'] = async (operation, details) => {
    const result = await work.operations.run(operation, details)
    // Only what changed layer 1: otherwise requests could keep the shared reads from being shared.
    if (changesLayer1.has(result.kind)) settlement.reads.forget()
    return result
  }
  await server.register(stateQueue, {
    ...access,
    rootUnits: rootUnitsOf(settlement, store),
    ...(keys.operatorAddress !== undefined && {
      wallet: commitmentWallet(settlement, keys.operatorAddress),
    }),
    ...(whole && {
      queue: stateQueueOf(settlement, store),
      repair: { repair: () => run('repair') },
    }),
  })
  await server.register(operator, {
    ...access,
    operations: { run },
    ...(whole
      ? { blocks: store.blocks, globals: { snapshot: () => globalsOf(settings, work) } }
      : { serve: ['commit'] }),
  })
}

/** The in-memory state of this process, for `/logGlobals`; without secrets. */
function globalsOf(
  { NODE_ROLE, NETWORK }: Settings,
  { validation, sequencer }: Pick<Work, 'validation' | 'sequencer'>,
) {
  const { rss, heapUsed } = process.memoryUsage()
  return {
    role: NODE_ROLE,
    network: NETWORK,
    pid: process.pid,
    uptimeSeconds: Math.round(process.uptime()),
    memoryBytes: { resident: rss, heap: heapUsed },
    validation: validation?.stats() ?? null,
    sequencer: sequencer?.snapshot() ?? null,
  }
}

/** What `/tx`, `/txs`, `/utxos` and `/block` read: page by page, so that long answers need little memory. */
function ledgerOf(store: Store): LedgerQueries {
  return {
    transaction: (id) => store.transaction(id),
    history: (address, page) => store.historyPages(address, page),
    utxosAt: (address) => store.utxoPages(address),
    blockTransactions: (headerHash) => store.blockTransactionPages(headerHash),
  }
}
