import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { toHex } from '@ratatosk/cbor'
import {
  type AddressNetwork,
  addressNetwork,
  errorHandler,
  HttpError,
  hasCode,
  hasMethods,
  openScope,
  optionalInteger,
  optionalTimer,
  portCall,
  readBy,
} from '@ratatosk/http'
import { encodeOutputReference } from '@ratatosk/ledger'
import { Type } from '@sinclair/typebox'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { largeAnswers } from './large-answers.js'
import type { LedgerQueries, UtxoRow } from './ledger-view.js'
import { addressQueryReader, historyQueryReader, readBlockQuery, readTransactionQuery } from './queries.js'
import { blockSchema, historySchema, transactionSchema, utxosSchema } from './schemas.js'

export { TooManyLargeReadsError } from './large-answers.js'
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

/** 404: neither the mempool nor a block contains the transaction. */
export class TransactionNotFoundError extends HttpError {
  /** @param id 64 hex digits */
  constructor(id: string) {
    super(404, 'TX_QUERY_TRANSACTION_NOT_FOUND', `Transaction not found: ${id}`)
  }
}

/** Why a query was refused. */
export type TxQueryErrorCode =
  | 'TX_QUERY_INVALID_PARAMETER'
  | 'TX_QUERY_TRANSACTION_NOT_FOUND'
  | 'TX_QUERY_TOO_MANY_LARGE_READS'

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isTxQueryError(value: unknown): value is HttpError & { readonly code: TxQueryErrorCode } {
  return hasCode(value, 'TX_QUERY_')
}

/** Options of {@link txQuery}. */
export interface TxQueryOptions extends RegisterOptions {
  /** The ledger that is read. */
  ledger: LedgerQueries
  /** The network whose addresses with a payment key are accepted, `addr1…` or `addr_test1…`. */
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
      const read = async () => (await ledger.transaction(query.hash)) ?? undefined
      const transaction = await portCall('ledger.transaction', Transaction, read)
      if (transaction === undefined) throw new TransactionNotFoundError(toHex(query.hash))
      return { tx: toHex(transaction) }
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
          method: 'ledger.history',
          rows: () => ledger.history(address, { limit, offset }, request.signal),
          schema: Transactions,
          item: hexItem,
          limit,
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
          method: 'ledger.utxosAt',
          rows: () => ledger.utxosAt(request.query.address, request.signal),
          schema: UtxoRows,
          item: utxoItem,
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
          method: 'ledger.blockTransactions',
          rows: () => ledger.blockTransactions(request.query.headerHash, request.signal),
          schema: Ids,
          item: hexItem,
          tail: () => ']}',
        },
        request,
        reply,
      ),
  )
}

const bytes = Type.Uint8Array()
const id = Type.Uint8Array({ minByteLength: 32, maxByteLength: 32 })
/** Indexes of outputs have 16 bits. */
const index = Type.Integer({ minimum: 0, maximum: 0xffff })

const Transaction = Type.Optional(Type.Uint8Array({ title: 'a Uint8Array, or undefined' }))
const Transactions = Type.Array(bytes, { title: 'arrays of Uint8Array' })
const Ids = Type.Array(id, { title: 'arrays of Uint8Array' })
const UtxoRows = Type.Array(
  Type.Object({ reference: Type.Object({ transactionId: id, index }), output: bytes }),
  { title: 'arrays of UtxoRow' },
)

/** JSON of bytes: hex has nothing to escape. */
const hexItem = (bytes: Uint8Array): string => `"${toHex(bytes)}"`

const utxoItem = ({ reference, output }: UtxoRow): string =>
  `{"outref":"${toHex(encodeOutputReference(reference))}","value":"${toHex(output)}"}`

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
