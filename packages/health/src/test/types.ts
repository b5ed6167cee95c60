// Compiled, never run: checks what the types accept and refuse.
import fastify from 'fastify'
import health, { type HealthOptions, type Probe } from '../index.js'

const server = fastify()
const probe: Probe = async (signal) => signal.throwIfAborted()

server.register(health, { probes: {} })
server.register(health, { probes: { database: probe, cache: async () => undefined, 'layer 1': probe } })
server.register(health, { probes: { queue: probe }, probeTimeoutMs: 1000, prefix: '/l2', logLevel: 'silent' })
server.register(health, { probes: {} } satisfies HealthOptions)
server.register(health, { probes: { database: probe } } satisfies HealthOptions<'database'>)

// @ts-expect-error probes are required, even if there are none
server.register(health, {})
// @ts-expect-error a subsystem that is not named
const named: HealthOptions<'database'> = { probes: { cache: probe } }
server.register(health, named)
server.register(health, { probes: { queue: () => undefined } })
// @ts-expect-error a probe returns nothing, and throws on failure
server.register(health, { probes: { queue: () => true } })
// @ts-expect-error a probe resolves to nothing and rejects on failure
server.register(health, { probes: { queue: async () => true } })
// @ts-expect-error a time is a number
server.register(health, { probes: {}, probeTimeoutMs: '3000' })
