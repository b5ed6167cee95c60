// Compiled, never run: checks what the types accept and refuse.
import fastify from 'fastify'
import evaluate, { type Evaluations } from '../index.js'

const server = fastify()
const evaluations: Evaluations = {
  evaluate: async (_cbor: Uint8Array) => ({
    verdict: 'valid' as const,
    transactionId: undefined,
    failures: [],
    redeemers: [],
    slot: 1n,
  }),
}

server.register(evaluate, { evaluations })
server.register(evaluate, { evaluations, maxTransactionSize: 1000, prefix: '/l2', logLevel: 'warn' })

// @ts-expect-error evaluations are required
server.register(evaluate, {})
// @ts-expect-error the result is promised
server.register(evaluate, { evaluations: { evaluate: () => ({ verdict: 'valid' }) } })
// @ts-expect-error no such option
server.register(evaluate, { evaluations, maxSize: 1 })
