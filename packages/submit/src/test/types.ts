// Compiled, never run: checks what the types accept and refuse.
import fastify from 'fastify'
import evaluate, { type Evaluations } from '../evaluate/index.js'
import submit, { type SubmitOptions, type TransactionQueue } from '../index.js'
import txStatus, {
  type PlacedTransactions,
  type QueuedSubmissions,
  type RejectedSubmissions,
  type TxStatusOptions,
} from '../status/index.js'

const server = fastify()
const queue: TransactionQueue = { add: async (cbor: Uint8Array) => String(cbor.byteLength) }

server.register(submit, { queue })
server.register(submit, { queue, maxTransactionSize: 1000, prefix: '/l2', logLevel: 'warn' })
server.register(submit, () => ({ queue }))

// A queue is accepted by its shape, whatever else it can do.
class Entries {
  readonly entries: Uint8Array[] = []
  async add(cbor: Uint8Array, _priority = 0): Promise<string> {
    return String(this.entries.push(cbor))
  }
}
server.register(submit, { queue: new Entries() } satisfies SubmitOptions)

// @ts-expect-error a queue is required
server.register(submit, {})
// @ts-expect-error the id is a string
server.register(submit, { queue: { add: async () => 1 } })
// @ts-expect-error the id is promised
server.register(submit, { queue: { add: () => '1' } })
// @ts-expect-error the queue gets bytes
server.register(submit, { queue: { add: async (hex: string) => hex } })
// @ts-expect-error a size is a number
server.register(submit, { queue, maxTransactionSize: '16384' })
// @ts-expect-error no such option
server.register(submit, { queue, maxSize: 1 })

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

declare const ledger: PlacedTransactions
declare const rejections: RejectedSubmissions
declare const queued: QueuedSubmissions

server.register(txStatus, { ledger, rejections, queue: queued })
server.register(txStatus, { ledger, rejections, queue: queued, maturityWindowMs: 30_000, prefix: '/l2' })
server.register(txStatus, () => ({ ledger, rejections, queue: queued }) satisfies TxStatusOptions)

// @ts-expect-error the queue is required
server.register(txStatus, { ledger, rejections })
// @ts-expect-error a place is promised
server.register(txStatus, { ledger: { ...ledger, placeOf: () => undefined }, rejections, queue: queued })
// @ts-expect-error no such option
server.register(txStatus, { ledger, rejections, queue: queued, store: ledger })
