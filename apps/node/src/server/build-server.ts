import { randomBytes } from 'node:crypto'
import { health } from '@ratatosk/health'
import { httpErrorOptions, httpErrors } from '@ratatosk/http'
import { createSubmissionQueue } from '@ratatosk/queue'
import { submit } from '@ratatosk/submit'
import { txQuery } from '@ratatosk/tx-query'
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Logger } from 'pino'
import type { Network } from '../network/networks.js'
import type { Parts } from '../parts/open-parts.js'
import type { Role, Settings } from '../settings/schema.js'

/** The roles that serve each plugin; `/health/*` is everybody's. */
const submitRoles: readonly Role[] = ['all', 'api']
const queryRoles: readonly Role[] = ['all']

/** The node's server with the plugins of its role; it owns none of the parts. */
export async function buildServer(
  settings: Settings,
  network: Network,
  { store, queue }: Parts,
  log: Logger,
): Promise<FastifyInstance> {
  const { NODE_ROLE, REQUEST_TIMEOUT_MS } = settings
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
    },
    probeTimeoutMs: settings.HEALTH_PROBE_TIMEOUT_MS,
  })
  if (submitRoles.includes(NODE_ROLE)) {
    await server.register(submit, {
      queue: createSubmissionQueue(queue),
      maxTransactionSize: settings.MAX_TX_SIZE,
    })
  }
  if (queryRoles.includes(NODE_ROLE)) {
    await server.register(txQuery, { ledger: store, network: network.kind })
  }
  return server
}

/** Ids that differ between requests, restarts and nodes. */
function requestIds(): () => string {
  const start = randomBytes(4).toString('hex')
  let count = 0
  return () => `${start}-${++count}`
}
