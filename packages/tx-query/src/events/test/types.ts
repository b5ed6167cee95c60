// Compiled, never run: checks what the types accept and refuse.
import fastify from 'fastify'
import plugin, { type EventLog, type EventsOptions } from '../index.js'

declare const log: EventLog
const server = fastify()

server.register(plugin, { log, network: 'testnet' })
server.register(plugin, { log, network: 'mainnet', maxClients: 10, heartbeatMs: 1000, prefix: '/l2' })
server.register(plugin, () => ({ log, network: 'testnet' }) satisfies EventsOptions)

// @ts-expect-error the network is required
server.register(plugin, { log })
// @ts-expect-error a position is promised
server.register(plugin, { log: { ...log, head: () => ({}) }, network: 'testnet' })
// @ts-expect-error no such option
server.register(plugin, { log, network: 'testnet', clients: 10 })
