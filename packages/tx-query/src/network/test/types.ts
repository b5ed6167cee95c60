// Compiled, never run: checks what the types accept and refuse.
import fastify from 'fastify'
import network, { type NetworkInfo } from '../index.js'

const server = fastify()
declare const info: NetworkInfo

server.register(network, { info })
server.register(network, { info, prefix: '/l2', logLevel: 'warn' })

// @ts-expect-error the answer is required
server.register(network, {})
// @ts-expect-error no such network id
server.register(network, { info: { ...info, networkId: 'testnet' } })
