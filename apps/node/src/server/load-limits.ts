import rateLimit from '@fastify/rate-limit'
import underPressure from '@fastify/under-pressure'
import { OverloadedError, RateLimitError, refusalLog } from '@ratatosk/http'
import type { FastifyInstance } from 'fastify'
import { Redis } from 'ioredis'
import type { Settings } from '../settings/schema.js'

/** Milliseconds over which the event loop's delay is averaged: a few long turns are no overload. */
const sampleMs = 3000
/** How long a request waits for Redis to count it, in milliseconds; then it is served. */
const countTimeoutMs = 500

type LoadSettings = Pick<Settings, 'MAX_EVENT_LOOP_DELAY_MS' | 'QUEUE_PREFIX' | 'RATE_LIMIT' | 'REDIS_URL'>

/** Refuses requests under overload or of a busy address, except to `servedUnderLoad` routes. */
export async function limitLoad(server: FastifyInstance, settings: LoadSettings): Promise<void> {
  const { MAX_EVENT_LOOP_DELAY_MS, RATE_LIMIT } = settings
  if (MAX_EVENT_LOOP_DELAY_MS > 0) await refuseUnderPressure(server, MAX_EVENT_LOOP_DELAY_MS)
  if (RATE_LIMIT > 0) await limitRate(server, settings)
}

async function refuseUnderPressure(server: FastifyInstance, maxEventLoopDelay: number): Promise<void> {
  const report = refusalLog(server.log, 'Overloaded: requests are refused')
  await server.register(underPressure, {
    maxEventLoopDelay,
    sampleInterval: sampleMs,
    pressureHandler: (_request, reply, type) => {
      report(type)
      const error = new OverloadedError()
      // Set here, because the handlers of the layer-1 APIs set no headers of errors.
      reply.headers({ ...error.headers })
      throw error
    },
  })
}

async function limitRate(server: FastifyInstance, settings: LoadSettings): Promise<void> {
  const redis = openCounters(server, settings)
  await server.register(rateLimit, {
    max: settings.RATE_LIMIT,
    timeWindow: 60_000,
    ...(redis && { redis, nameSpace: `${settings.QUEUE_PREFIX}:rate:`, skipOnError: true }),
    errorResponseBuilder: (_request, { ttl }) => new RateLimitError(Math.max(1, Math.ceil(ttl / 1000))),
  })
}

/** A connection of its own, which does not wait for Redis: without it, requests are not limited. */
function openCounters(
  server: FastifyInstance,
  { REDIS_URL }: Pick<Settings, 'REDIS_URL'>,
): Redis | undefined {
  if (REDIS_URL === undefined) return undefined
  const redis = new Redis(REDIS_URL, {
    commandTimeout: countTimeoutMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
  })
  const report = refusalLog(server.log, 'Redis counts no requests: they are not limited')
  redis.on('error', () => report('failed'))
  server.addHook('onClose', async () => redis.disconnect())
  return redis
}
