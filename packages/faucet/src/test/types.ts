// Compiled, never run: what the types accept and refuse.
import fastify from 'fastify'
import faucet, { type ClaimPayer, type FaucetOptions } from '../index.js'

declare const payer: ClaimPayer

const server = fastify()

server.register(faucet, { token: 'a', network: 'testnet', payer })
server.register(faucet, { token: 'a', network: 'testnet', payer, prefix: '/l2', logLevel: 'warn' })
// A payer is accepted by its shape.
server.register(faucet, {
  token: 'a',
  network: 'testnet',
  payer: { claim: async () => ({ kind: 'depleted' }) },
} satisfies FaucetOptions)

server.register(faucet, { token: 'a', network: 'testnet', payer, layer: 2 })

// @ts-expect-error a token is required
server.register(faucet, { network: 'testnet', payer })
// @ts-expect-error a network is required
server.register(faucet, { token: 'a', payer })
// @ts-expect-error unknown network
server.register(faucet, { token: 'a', network: 'preprod', payer })
// @ts-expect-error a payer is required
server.register(faucet, { token: 'a', network: 'testnet' })
// @ts-expect-error the result must be a promise
server.register(faucet, { token: 'a', network: 'testnet', payer: { claim: () => ({ kind: 'depleted' }) } })
