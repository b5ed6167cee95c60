// Compiled, never run: checks what the types accept and refuse.
import type { OperationResult } from '@ratatosk/ports'
import fastify from 'fastify'
import bridge, { type BridgeOptions, type BridgePorts } from '../bridge/index.js'
import stateQueue, { type StateQueueOptions, type StateQueueRoot, type StateQueueView } from '../index.js'
import operators, {
  type OpenQuestions,
  type OperatorsAnswer,
  type OperatorsOptions,
} from '../operators/index.js'

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

declare const list: OperatorsAnswer
declare const questions: OpenQuestions
const registry = { read: async (signal?: AbortSignal) => (signal?.aborted ? { ...list } : list) }
const verdicts = { list: async ({ limit }: { limit: number }) => ({ verdicts: [], hasMore: limit < 1 }) }

server.register(operators, { registry, questions, verdicts, prefix: '/l2', logLevel: 'warn' })
server.register(operators, () => ({ verdicts }) satisfies OperatorsOptions)

// @ts-expect-error answers are promised
server.register(operators, { registry: { read: () => list } })
// @ts-expect-error questions come in pieces
server.register(operators, { questions: { read: async () => [] } })
// @ts-expect-error a page says whether there is another
server.register(operators, { verdicts: { list: async () => ({ verdicts: [] }) } })
// @ts-expect-error key hashes are bytes
server.register(operators, { registry: { read: async () => ({ ...list, inTurn: 'ab' }) } })
// @ts-expect-error no such option
server.register(operators, { registry, token: 'secret' })
