// Compiled, never run: checks what the types accept and refuse.
import fastify from 'fastify'
import bridge, { type BridgeOptions, type BridgePorts } from '../index.js'

const server = fastify()
declare const ports: BridgePorts

server.register(bridge, { ports, prefix: '/l2', logLevel: 'warn', operatorToken: 'secret' })
server.register(bridge, () => ({ ports: undefined }) satisfies BridgeOptions)
server.register(bridge, { ports: { ...ports, payer: undefined } })

// @ts-expect-error whether there is a bridge is said, not forgotten
server.register(bridge, {})
// @ts-expect-error answers are promised
server.register(bridge, { ports: { ...ports, bridge: { read: () => undefined } } })
// @ts-expect-error a page says whether there is another
server.register(bridge, { ports: { ...ports, deposits: { list: async () => ({ deposits: [] }) } } })
// @ts-expect-error no such option
server.register(bridge, { ports, token: 'secret' })
