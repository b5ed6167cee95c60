// Compiled, never run: checks what the types accept and refuse.
import fastify from 'fastify'
import plugin, {
  type PlacedTransactions,
  type QueuedSubmissions,
  type RejectedSubmissions,
  type TxStatusOptions,
} from '../index.js'

declare const ledger: PlacedTransactions
declare const rejections: RejectedSubmissions
declare const queue: QueuedSubmissions
const server = fastify()

server.register(plugin, { ledger, rejections, queue })
server.register(plugin, { ledger, rejections, queue, maturityWindowMs: 30_000, prefix: '/l2' })
server.register(plugin, () => ({ ledger, rejections, queue }) satisfies TxStatusOptions)

// @ts-expect-error the queue is required
server.register(plugin, { ledger, rejections })
// @ts-expect-error a place is promised
server.register(plugin, { ledger: { ...ledger, placeOf: () => undefined }, rejections, queue })
// @ts-expect-error no such option
server.register(plugin, { ledger, rejections, queue, store: ledger })
