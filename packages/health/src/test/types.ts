// Compiled, never run: what the types accept and what they refuse.
import fastify from 'fastify'
import health, { type HealthOptions, type Probe } from '../index.js'

const server = fastify()
const probe: Probe = async (signal) => signal.throwIfAborted()

server.register(health, { probes: {} })
server.register(health, { probes: { database: probe, queue: async () => undefined, layer1: probe } })
server.register(health, { probes: { queue: probe }, probeTimeoutMs: 1000, prefix: '/l2', logLevel: 'silent' })
server.register(health, { probes: {} } satisfies HealthOptions)

// @ts-expect-error probes are required, be there none
server.register(health, {})
// @ts-expect-error no such subsystem
server.register(health, { probes: { cache: probe } })
// @ts-expect-error the answer is promised
server.register(health, { probes: { queue: () => true } })
// @ts-expect-error what fails rejects; there is nothing to resolve to
server.register(health, { probes: { queue: async () => true } })
// @ts-expect-error a time is a number
server.register(health, { probes: {}, probeTimeoutMs: '3000' })
