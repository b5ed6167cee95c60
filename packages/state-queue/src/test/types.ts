import type { OperationResult } from '@ratatosk/ports'
// Compiled, never run: checks what the types accept and refuse.

import fastify from 'fastify'
import stateQueue, { type StateQueueOptions, type StateQueueRoot, type StateQueueView } from '../index.js'

const server = fastify()
const view: StateQueueView = { roots: [], blocks: [] }
const queue = { read: async (signal?: AbortSignal) => (signal?.aborted ? { ...view } : view) }
const wallet = { lovelace: async () => 5n }

server.register(stateQueue, { queue, wallet })
server.register(stateQueue, {
  wallet,
  prefix: '/l2',
  logLevel: 'warn',
  operatorToken: 'secret',
  allowedHosts: ['a'],
})
server.register(stateQueue, () => ({ wallet }))

// A port fits by its shape, whatever else it can do.
declare const sequencer: { run(operation: 'repair' | 'init'): Promise<OperationResult>; close(): void }
const account = { ...wallet, close: () => undefined }
server.register(stateQueue, {
  repair: { repair: () => sequencer.run('repair') },
  wallet: account,
} satisfies StateQueueOptions)

const broken: StateQueueView = { ...view, fault: '2 roots', strays: [{ outRef: `${'ab'.repeat(32)}#0` }] }
server.register(stateQueue, { queue: { read: async () => broken } })

// @ts-expect-error lovelace is a bigint
server.register(stateQueue, { wallet: { lovelace: async () => 5 } })
// @ts-expect-error answers are promised
server.register(stateQueue, { queue: { read: () => view } })
// @ts-expect-error every field of a view is needed
server.register(stateQueue, { queue: { read: async () => ({ roots: [] }) } })
// @ts-expect-error hashes are bytes
const root: StateQueueRoot = { outRef: '', headerHash: 'ab', endTime: 0n }
// @ts-expect-error times are bigints
const late: StateQueueRoot = { outRef: '', headerHash: new Uint8Array(28), endTime: 0 }
server.register(stateQueue, { queue: { read: async () => ({ roots: [root, late], blocks: [] }) } })
// @ts-expect-error no such result
server.register(stateQueue, { repair: { repair: async () => ({ kind: 'mended' }) } })
// @ts-expect-error a token is text
server.register(stateQueue, { wallet, operatorToken: 1 })
// @ts-expect-error no such option
server.register(stateQueue, { wallet, token: 'secret' })
