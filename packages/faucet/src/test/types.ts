// Compiled, never run: what the types accept and what they refuse.
import fastify from 'fastify'
import faucet, {
  type ClaimStore,
  createFaucet,
  type Faucet,
  type FaucetOptions,
  type FaucetWallet,
} from '../index.js'

declare const claims: ClaimStore
declare const wallet: FaucetWallet

const server = fastify()
const pays: Faucet = createFaucet({ claims, wallet })
createFaucet({ claims, wallet, amount: 5n, cooldownMs: 1, dailyIpLimit: 1, minBalance: 0n, leaseMs: 1 })

server.register(faucet, { token: 'a', network: 'testnet', faucet: pays })
server.register(faucet, { token: 'a', network: 'testnet', faucet: pays, prefix: '/l2', logLevel: 'warn' })
// What pays fits by its shape.
server.register(faucet, {
  token: 'a',
  network: 'testnet',
  faucet: { claim: async () => ({ kind: 'depleted' }) },
} satisfies FaucetOptions)

// @ts-expect-error a token is required
server.register(faucet, { network: 'testnet', faucet: pays })
// @ts-expect-error a network is required
server.register(faucet, { token: 'a', faucet: pays })
// @ts-expect-error no such network
server.register(faucet, { token: 'a', network: 'preprod', faucet: pays })
// @ts-expect-error something must pay
server.register(faucet, { token: 'a', network: 'testnet' })
// @ts-expect-error the result is promised
server.register(faucet, { token: 'a', network: 'testnet', faucet: { claim: () => ({ kind: 'depleted' }) } })
// @ts-expect-error amounts are bigint
createFaucet({ claims, wallet, amount: 100 })
// @ts-expect-error claims are required
createFaucet({ wallet })
