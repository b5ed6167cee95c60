import { randomBytes } from 'node:crypto'
import { archiveOfBlocks, archivist } from '@ratatosk/archivist'
import { type Faucet, faucet } from '@ratatosk/faucet'
import { health } from '@ratatosk/health'
import { httpErrorOptions, httpErrors } from '@ratatosk/http'
import { operator } from '@ratatosk/operator'
import { createSubmissionQueue } from '@ratatosk/queue'
import { stateQueue } from '@ratatosk/state-queue'
import { submit } from '@ratatosk/submit'
import { txQuery } from '@ratatosk/tx-query'
import type { Operations } from '@ratatosk/workers'
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Logger } from 'pino'
import { operatorAddress } from '../layer1/keys.js'
import type { Settlement } from '../layer1/open-settlement.js'
import type { Network } from '../network/networks.js'
import type { Parts } from '../parts/open-parts.js'
import { duties } from '../roles.js'
import type { Settings } from '../settings/schema.js'
import { commitmentWallet, rootUnitsOf, stateQueueOf } from './settlement-ports.js'

export interface ServerOptions {
  readonly settings: Settings
  readonly network: Network
  readonly parts: Parts
  /** Undefined for a role that has nothing to do with layer 1. */
  readonly settlement: Settlement | undefined
  readonly operations: Operations
  /** Undefined where there is none. */
  readonly faucet: Faucet | undefined
  /** What this process has in mind, for `/logGlobals`. */
  readonly globals: () => unknown
  readonly log: Logger
}

/** The node's server with the plugins of its role; it owns none of the parts. */
export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const { settings, network, parts, settlement, log } = options
  const { store, queue } = parts
  const { REQUEST_TIMEOUT_MS } = settings
  const { serves, bodies } = duties[settings.NODE_ROLE]
  const loggerInstance: FastifyBaseLogger = log
  const server = fastify({
    ...httpErrorOptions,
    loggerInstance,
    // Two lines a request would cost more than many requests do; what fails is logged by the error handler.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIds(),
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      ...httpErrorOptions.http,
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: Math.min(1000, REQUEST_TIMEOUT_MS),
    },
  })

  await server.register(httpErrors)
  await server.register(health, {
    probes: {
      database: (signal) => store.ping(signal),
      queue: (signal) => queue.ping(signal),
      ...(settlement && {
        layer1: async (signal) => {
          await settlement.layer1.tip({ signal })
        },
      }),
    },
    probeTimeoutMs: settings.HEALTH_PROBE_TIMEOUT_MS,
  })
  if (serves !== 'nothing') {
    await server.register(submit, {
      queue: createSubmissionQueue(queue),
      maxTransactionSize: settings.MAX_TX_SIZE,
    })
  }
  if (serves === 'whole') {
    await server.register(txQuery, { ledger: store, network: network.kind })
  }
  if (settlement !== undefined && serves !== 'nothing') {
    await registerSettlement(server, options, settlement)
  }
  if (options.faucet !== undefined && settings.FAUCET_TOKEN !== undefined) {
    await server.register(faucet, {
      token: settings.FAUCET_TOKEN,
      network: network.kind,
      faucet: options.faucet,
    })
  }
  if (bodies === 'own blocks') {
    await server.register(archivist, { archive: archiveOfBlocks(store.blocks), prefix: '/archivist' })
  }
  if (bodies === 'archive') await server.register(archivist, { archive: store.archive })
  return server
}

/** An `api` node serves the reads that need no more than layer 1, and `/commit`. */
async function registerSettlement(
  server: FastifyInstance,
  { settings, parts: { store }, operations, globals }: ServerOptions,
  settlement: Settlement,
): Promise<void> {
  const whole = duties[settings.NODE_ROLE].serves === 'whole'
  const token = settings.OPERATOR_TOKEN === undefined ? {} : { operatorToken: settings.OPERATOR_TOKEN }
  await server.register(stateQueue, {
    ...token,
    rootUnits: rootUnitsOf(settlement, store),
    wallet: commitmentWallet(settlement, operatorAddress(settings)),
    ...(whole && {
      queue: stateQueueOf(settlement, store),
      repair: { repair: () => operations.run('repair') },
    }),
  })
  await server.register(operator, {
    ...token,
    operations,
    ...(whole ? { blocks: store.blocks, globals: { snapshot: globals } } : { serve: ['commit'] }),
  })
}

/** Ids that differ between requests, restarts and nodes. */
function requestIds(): () => string {
  const start = randomBytes(4).toString('hex')
  let count = 0
  return () => `${start}-${++count}`
}
