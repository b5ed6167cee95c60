import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { errorHandler, readBy } from '@ratatosk/http'
import { encodeOutputReference, toHex } from '@ratatosk/ledger'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import type { Network } from './address.js'
import { TransactionNotFoundError } from './errors.js'
import type { LedgerView } from './ledger-view.js'
import { addressQueryReader, historyQueryReader, readBlockQuery, readTransactionQuery } from './queries.js'
import { blockSchema, historySchema, transactionSchema, utxosSchema } from './schemas.js'

export type { Network } from './address.js'
export { InvalidParameterError, TransactionNotFoundError } from './errors.js'
export type { LedgerView, OutputReference, Page, Utxo } from './ledger-view.js'
export {
  BlockAnswer,
  blockSchema,
  HistoryAnswer,
  historySchema,
  TransactionAnswer,
  transactionSchema,
  UtxosAnswer,
  utxosSchema,
} from './schemas.js'

export interface TxQueryOptions extends RegisterOptions {
  /** The ledger that is asked. */
  ledger: LedgerView
  /** The network whose addresses are understood: `addr1…` on mainnet, `addr_test1…` on testnet. */
  network: Network
}

const plugin: FastifyPluginAsyncTypebox<TxQueryOptions> = async (fastify, options) => {
  const { ledger, network } = options
  if (!ledger) throw new TypeError('@ratatosk/tx-query: a ledger is required')
  if (network !== 'mainnet' && network !== 'testnet') {
    throw new TypeError('@ratatosk/tx-query: network must be mainnet or testnet')
  }

  fastify.setErrorHandler(errorHandler)

  fastify.get(
    '/tx',
    { schema: transactionSchema, validatorCompiler: readBy(readTransactionQuery) },
    async ({ query }) => {
      const transaction = await ledger.transaction(query.hash)
      if (!transaction) throw new TransactionNotFoundError(toHex(query.hash))
      return { tx: toHex(transaction) }
    },
  )

  fastify.get(
    '/txs',
    { schema: historySchema, validatorCompiler: readBy(historyQueryReader(network)) },
    async ({ query: { address, limit, offset } }) => {
      const txs = await ledger.history(address, { limit, offset })
      return { txs: txs.map(toHex), limit, offset, hasMore: txs.length === limit }
    },
  )

  fastify.get(
    '/utxos',
    { schema: utxosSchema, validatorCompiler: readBy(addressQueryReader(network)) },
    async ({ query }) => {
      const utxos = await ledger.utxosAt(query.address)
      return {
        utxos: utxos.map(({ reference, output }) => ({
          outref: toHex(encodeOutputReference(reference)),
          value: toHex(output),
        })),
      }
    },
  )

  fastify.get(
    '/block',
    { schema: blockSchema, validatorCompiler: readBy(readBlockQuery) },
    async ({ query }) => {
      const hashes = await ledger.blockTransactions(query.headerHash)
      return { hashes: hashes.map(toHex) }
    },
  )
}

/**
 * Fastify plugin: `GET /tx`, `/txs`, `/utxos` and `/block` answer about a ledger.
 *
 * It is encapsulated: its error handler is its own, and several instances fit into one server, each under its `prefix`.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(txQuery, { ledger, network: 'testnet' })
 * ```
 */
export const txQuery = fp(plugin, { name: '@ratatosk/tx-query', fastify: '5.x', encapsulate: true })

export default txQuery
