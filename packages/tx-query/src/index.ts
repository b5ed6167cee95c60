import { types } from 'node:util'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { toHex } from '@ratatosk/cbor'
import {
  type AddressNetwork,
  addressNetwork,
  errorHandler,
  hasMethods,
  openScope,
  optionalInteger,
  optionalTimer,
  readBy,
} from '@ratatosk/http'
import { encodeOutputReference } from '@ratatosk/ledger'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { TransactionNotFoundError } from './errors.js'
import { largeAnswers } from './large-answers.js'
import type { LedgerQueries, UtxoRow } from './ledger-view.js'
import { addressQueryReader, historyQueryReader, readBlockQuery, readTransactionQuery } from './queries.js'
import { blockSchema, historySchema, transactionSchema, utxosSchema } from './schemas.js'

export {
  isTxQueryError,
  TooManyLargeReadsError,
  TransactionNotFoundError,
  type TxQueryErrorCode,
} from './errors.js'
export type { HistoryPage, LedgerQueries, OutputReference, Rows, UtxoRow } from './ledger-view.js'
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

/** Options of {@link txQuery}. */
export interface TxQueryOptions extends RegisterOptions {
  /** The ledger that is read. */
  ledger: LedgerQueries
  /** The network whose addresses are accepted: `addr1…` on mainnet, `addr_test1…` on testnet. */
  network: AddressNetwork
  /** The most answers of more than 64 KiB sent at a time; further ones are answered 503. Default: 8. */
  maxLargeReads?: number
  /**
   * How long a client may accept no data of such an answer before its connection is closed, in ms. Default:
   * 10,000.
   */
  stallTimeoutMs?: number
}

const name = '@ratatosk/tx-query'
const rules = {
  ledger: hasMethods('transaction', 'history', 'utxosAt', 'blockTransactions'),
  network: addressNetwork(),
  maxLargeReads: optionalInteger(1),
  stallTimeoutMs: optionalTimer(1),
}

const plugin: FastifyPluginAsyncTypebox<TxQueryOptions> = async (fastify, options) => {
  openScope(fastify, name, rules, options)
  const { ledger, network, maxLargeReads = 8, stallTimeoutMs = 10_000 } = options
  const sendList = largeAnswers({ maxLargeReads, stallTimeoutMs })

  fastify.setErrorHandler(errorHandler)

  fastify.get(
    '/tx',
    { schema: transactionSchema, validatorCompiler: readBy(readTransactionQuery) },
    async ({ query }) => {
      const transaction = await ledger.transaction(query.hash)
      if (transaction === undefined || transaction === null)
        throw new TransactionNotFoundError(toHex(query.hash))
      return { tx: hexOf(transaction, expected.transaction) }
    },
  )

  fastify.get(
    '/txs',
    { schema: historySchema, validatorCompiler: readBy(historyQueryReader(network)) },
    (request, reply) => {
      const { address, limit, offset } = request.query
      return sendList(
        {
          head: '{"txs":[',
          rows: () => ledger.history(address, { limit, offset }, request.signal),
          item: (transaction) => `"${hexOf(transaction, expected.history)}"`,
          expected: expected.history,
          limit: { rows: limit, expected: 'ledger.history must return at most limit transactions' },
          tail: (count) => `],"limit":${limit},"offset":${offset},"hasMore":${count === limit}}`,
        },
        request,
        reply,
      )
    },
  )

  fastify.get(
    '/utxos',
    { schema: utxosSchema, validatorCompiler: readBy(addressQueryReader(network)) },
    (request, reply) =>
      sendList(
        {
          head: '{"utxos":[',
          rows: () => ledger.utxosAt(request.query.address, request.signal),
          item: utxoItem,
          expected: expected.utxosAt,
          tail: () => ']}',
        },
        request,
        reply,
      ),
  )

  fastify.get(
    '/block',
    { schema: blockSchema, validatorCompiler: readBy(readBlockQuery) },
    (request, reply) =>
      sendList(
        {
          head: '{"hashes":[',
          rows: () => ledger.blockTransactions(request.query.headerHash, request.signal),
          item: (id) => `"${hexOf(id, expected.blockTransactions, 32)}"`,
          expected: expected.blockTransactions,
          tail: () => ']}',
        },
        request,
        reply,
      ),
  )
}

/** The errors of a ledger in JavaScript whose methods return something else. */
const expected = {
  transaction: 'ledger.transaction must resolve to a Uint8Array, or undefined',
  history: 'ledger.history must return arrays of Uint8Array',
  utxosAt:
    'ledger.utxosAt must return arrays of { reference: { transactionId: Uint8Array of 32 bytes, ' +
    'index: number from 0 to 65535 }, output: Uint8Array }',
  blockTransactions: 'ledger.blockTransactions must return arrays of Uint8Array of 32 bytes',
}

/** @throws {TypeError} with the message, if the value is no bytes, or not that many */
function hexOf(bytes: unknown, message: string, length?: number): string {
  if (!types.isUint8Array(bytes) || (length ?? bytes.length) !== bytes.length) throw new TypeError(message)
  return toHex(bytes)
}

/** Indexes of outputs have 16 bits. */
const maxIndex = 0xffff

/** JSON of an unspent output: hex has nothing to escape. */
function utxoItem(row: Partial<UtxoRow> | undefined | null): string {
  const { transactionId, index } = row?.reference ?? {}
  const isIndex = Number.isInteger(index) && Number(index) >= 0 && Number(index) <= maxIndex
  if (!types.isUint8Array(transactionId) || transactionId.length !== 32 || index === undefined || !isIndex)
    throw new TypeError(expected.utxosAt)
  const reference = encodeOutputReference({ transactionId, index })
  return `{"outref":"${toHex(reference)}","value":"${hexOf(row?.output, expected.utxosAt)}"}`
}

/**
 * Fastify plugin: `GET /tx`, `/txs`, `/utxos` and `/block` answer about a ledger.
 *
 * Encapsulated: it sets an error handler in its own scope, and one server can hold several instances, each
 * under its `prefix`. Throws a `TypeError` at startup for options that cannot work.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(txQuery, { ledger, network: 'testnet' })
 * ```
 */
export const txQuery = fp(plugin, { name, fastify: '5.x', encapsulate: true })

export default txQuery
