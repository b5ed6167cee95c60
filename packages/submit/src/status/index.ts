import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  checkedPort,
  clientSignal,
  errorHandler,
  hasMethods,
  hexParameter,
  InvalidParameterError,
  noStore,
  OverloadedError,
  onlyParameters,
  openScope,
  optionalInteger,
  type Query,
  type QueryValue,
  readBy,
} from '@ratatosk/http'
import { Type } from '@sinclair/typebox'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import pLimit from 'p-limit'
import {
  mostHashes,
  type SubmissionStatusQuery,
  submissionStatusSchema,
  type TransactionStatusesQuery,
  type TransactionStatusQuery,
  transactionStatusesSchema,
  transactionStatusSchema,
} from './schemas.js'
import {
  type StatusSources,
  statusesOfTransactions,
  statusOfSubmission,
  statusOfTransaction,
} from './status.js'

export type {
  FoundSubmission,
  PlacedBlock,
  PlacedTransactions,
  QueuedSubmissions,
  RejectedSubmission,
  RejectedSubmissions,
  RemovedTransaction,
  RemovedTransactions,
  TransactionPlace,
  WaitingSubmission,
} from '@ratatosk/ports'
export {
  Status,
  StatusBlock,
  StatusFailure,
  StatusRejection,
  StatusRemoval,
  SubmissionStatusAnswer,
  statuses,
  submissionStatusSchema,
  TransactionStatusAnswer,
  TransactionStatusesAnswer,
  transactionStatusesSchema,
  transactionStatusSchema,
} from './schemas.js'
export { type StatusSources, statusOfSubmission } from './status.js'

/** Options of {@link txStatus}. */
export interface TxStatusOptions extends RegisterOptions, StatusSources {}

/** Lists of transactions that are looked up at a time, and that wait for it. */
const [mostLists, mostWaitingLists] = [4, 60]

/** The longest submission id that is looked up, in characters. */
const maxIdLength = 200

const name = '@ratatosk/submit/status'
const rules = {
  ledger: hasMethods('placeOf', 'placesOf'),
  rejections: hasMethods('find', 'findTransaction'),
  queue: hasMethods('find', 'findTransaction'),
  removals: Type.Optional(hasMethods('ofTransaction')),
  maturityWindowMs: optionalInteger(0),
}

const plugin: FastifyPluginAsyncTypebox<TxStatusOptions> = async (fastify, options) => {
  openScope(fastify, name, rules, options)
  const sources = sourcesInTime(options)
  const lists = pLimit(mostLists)

  fastify.setErrorHandler(errorHandler)
  fastify.addHook('onRequest', noStore)

  fastify.get(
    '/tx/status',
    { schema: transactionStatusSchema, validatorCompiler: readBy(readTransactionQuery) },
    ({ query }) => statusOfTransaction(sources, query.hash),
  )

  fastify.get(
    '/tx/statuses',
    { schema: transactionStatusesSchema, validatorCompiler: readBy(readTransactionsQuery) },
    async ({ query }, reply) => {
      // Transactions that the node does not know take several reads each.
      if (lists.pendingCount >= mostWaitingLists) throw new OverloadedError()
      const signal = clientSignal(reply)
      return { statuses: await lists(() => statusesOfTransactions(sources, query.hashes, signal)) }
    },
  )

  fastify.get(
    '/submission',
    { schema: submissionStatusSchema, validatorCompiler: readBy(readSubmissionQuery) },
    ({ query }) => statusOfSubmission(sources, query.id),
  )
}

/** The sources, of which no call takes for ever. Their results are checked where they are read. */
function sourcesInTime(options: TxStatusOptions): StatusSources {
  const { ledger, rejections, queue, removals } = options
  const any = Type.Any()
  return {
    ...options,
    ledger: checkedPort('ledger', ledger, { placeOf: any, placesOf: any }),
    rejections: checkedPort('rejections', rejections, { find: any, findTransaction: any }),
    queue: checkedPort('queue', queue, { find: any, findTransaction: any }),
    ...(removals && { removals: checkedPort('removals', removals, { ofTransaction: any }) }),
  }
}

function invalid(what: string, value: QueryValue, rule: string): InvalidParameterError {
  return new InvalidParameterError('TX_STATUS', what, value, rule)
}

function readTransactionQuery(query: Query): TransactionStatusQuery {
  const { tx_hash } = query
  onlyParameters('TX_STATUS', query, ['tx_hash'])
  const hash = hexParameter(tx_hash, 32)
  if (!hash) throw invalid('transaction hash', tx_hash, 'Send tx_hash with 64 hex digits')
  return { hash }
}

function readTransactionsQuery(query: Query): TransactionStatusesQuery {
  const { tx_hash } = query
  onlyParameters('TX_STATUS', query, ['tx_hash'])
  const rule = `Send tx_hash once, with up to ${mostHashes} hashes of 64 hex digits, separated by commas`
  if (typeof tx_hash !== 'string') throw invalid('transaction hashes', tx_hash, rule)
  const hashes = tx_hash.split(',')
  if (hashes.length > mostHashes) throw invalid('transaction hashes', `${hashes.length} of them`, rule)
  const bytes = hashes.map((hash) => {
    const parsed = hexParameter(hash, 32)
    if (parsed === undefined) throw invalid('transaction hash', hash, rule)
    return parsed
  })
  return { hashes: bytes }
}

function readSubmissionQuery(query: Query): SubmissionStatusQuery {
  const { id } = query
  onlyParameters('TX_STATUS', query, ['id'])
  // U+0000 cannot be part of a text in PostgreSQL.
  if (typeof id !== 'string' || id === '' || id.length > maxIdLength || id.includes('\0')) {
    throw invalid('submission id', id, 'Send id as POST /submit answered it')
  }
  return { id }
}

/**
 * Fastify plugin: `GET /tx/status`, `/tx/statuses` and `/submission` report the status of transactions.
 *
 * Encapsulated: it sets an error handler in its own scope, and one server can hold several instances, each
 * under its `prefix`. Throws a `TypeError` at startup for options that cannot work.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(txStatus, { ledger: store, rejections: store.rejections, queue: submissions })
 * ```
 */
export const txStatus = fp(plugin, { name, fastify: '5.x', encapsulate: true })

export default txStatus
