// Compiled, never run: checks what the types accept and refuse.
import fastify from 'fastify'
import events, { type EventLog, type EventsOptions } from '../events/index.js'
import txQuery, { type LedgerQueries, type TxQueryOptions } from '../index.js'
import network, { type NetworkInfo } from '../network/index.js'

const server = fastify()
const ledger: LedgerQueries = {
  transaction: async () => undefined,
  history: async (_address, { limit, offset }) => [Uint8Array.of(limit, offset)],
  utxosAt: async (address) => [{ reference: { transactionId: address, index: 0 }, output: address }],
  blockTransactions: async (headerHash) => [headerHash],
}

server.register(txQuery, { ledger, network: 'testnet' })
server.register(txQuery, { ledger, network: 'mainnet', prefix: '/l2', logLevel: 'warn' })

// A ledger is accepted by its shape, whatever else it can do.
const store = { ...ledger, close: async () => undefined }
server.register(txQuery, { ledger: store, network: 'testnet' } satisfies TxQueryOptions)

// Rows may come in batches.
server.register(txQuery, {
  ledger: {
    ...ledger,
    async *utxosAt(address, signal) {
      if (!signal.aborted) yield [{ reference: { transactionId: address, index: 0 }, output: address }]
    },
  },
  network: 'testnet',
  maxLargeReads: 4,
  stallTimeoutMs: 1000,
})

// @ts-expect-error a ledger is required
server.register(txQuery, { network: 'testnet' })
// @ts-expect-error a network is required
server.register(txQuery, { ledger })
// @ts-expect-error no such network
server.register(txQuery, { ledger, network: 'preprod' })
// @ts-expect-error transactions are bytes
server.register(txQuery, { ledger: { ...ledger, transaction: async () => 'f6' }, network: 'testnet' })
// @ts-expect-error rows are promised or iterated asynchronously
server.register(txQuery, { ledger: { ...ledger, utxosAt: () => [] }, network: 'testnet' })
// @ts-expect-error every method is required
server.register(txQuery, { ledger: { transaction: ledger.transaction }, network: 'testnet' })

declare const log: EventLog

server.register(events, { log, network: 'testnet' })
server.register(events, { log, network: 'mainnet', maxClients: 10, heartbeatMs: 1000, prefix: '/l2' })
server.register(events, () => ({ log, network: 'testnet' }) satisfies EventsOptions)

// @ts-expect-error the network is required
server.register(events, { log })
// @ts-expect-error a position is promised
server.register(events, { log: { ...log, head: () => ({}) }, network: 'testnet' })
// @ts-expect-error no such option
server.register(events, { log, network: 'testnet', clients: 10 })

declare const info: NetworkInfo

server.register(network, { info })
server.register(network, { info, prefix: '/l2', logLevel: 'warn' })

// @ts-expect-error the answer is required
server.register(network, {})
// @ts-expect-error no such network id
server.register(network, { info: { ...info, networkId: 'testnet' } })
