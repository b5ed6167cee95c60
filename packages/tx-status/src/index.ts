import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { errorHandler, hexParameter, noStore, type Query, readBy } from '@ratatosk/http'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { InvalidParameterError } from './errors.js'
import {
  type SubmissionQuery,
  submissionStatusSchema,
  type TransactionQuery,
  transactionStatusSchema,
} from './schemas.js'
import { type StatusSources, statusOfSubmission, statusOfTransaction } from './status.js'

export { InvalidParameterError, isTxStatusError } from './errors.js'
export type * from './ports.js'
export {
  Status,
  StatusBlock,
  StatusFailure,
  StatusRejection,
  StatusRemoval,
  SubmissionStatus,
  statuses,
  submissionStatusSchema,
  TransactionStatus,
  transactionStatusSchema,
} from './schemas.js'
export type { StatusSources } from './status.js'

/** Options of {@link txStatus}. */
export interface TxStatusOptions extends RegisterOptions, StatusSources {}

/** The longest submission id that is looked up, in characters. */
const maxIdLength = 200

const plugin: FastifyPluginAsyncTypebox<TxStatusOptions> = async (fastify, options) => {
  const { ledger, rejections, queue, maturityWindowMs } = options
  if (typeof ledger?.placeOf !== 'function') {
    throw new TypeError('@ratatosk/tx-status: ledger.placeOf must be a function')
  }
  if (typeof rejections?.find !== 'function' || typeof rejections.findTransaction !== 'function') {
    throw new TypeError('@ratatosk/tx-status: rejections must have find and findTransaction')
  }
  if (typeof queue?.find !== 'function' || typeof queue.findTransaction !== 'function') {
    throw new TypeError('@ratatosk/tx-status: queue must have find and findTransaction')
  }
  if (maturityWindowMs !== undefined && (!Number.isSafeInteger(maturityWindowMs) || maturityWindowMs < 0)) {
    throw new TypeError('@ratatosk/tx-status: maturityWindowMs must be a whole number from 0')
  }

  fastify.setErrorHandler(errorHandler)
  fastify.addHook('onRequest', noStore)

  fastify.get(
    '/tx/status',
    { schema: transactionStatusSchema, validatorCompiler: readBy(readTransactionQuery) },
    ({ query }) => statusOfTransaction(options, query.hash),
  )

  fastify.get(
    '/submission',
    { schema: submissionStatusSchema, validatorCompiler: readBy(readSubmissionQuery) },
    ({ query }) => statusOfSubmission(options, query.id),
  )
}

function readTransactionQuery({ tx_hash }: Query): TransactionQuery {
  const hash = hexParameter(tx_hash, 32)
  if (!hash) throw new InvalidParameterError('transaction hash', tx_hash, 'Send tx_hash with 64 hex digits')
  return { hash }
}

function readSubmissionQuery({ id }: Query): SubmissionQuery {
  // U+0000 cannot be part of a text in PostgreSQL.
  if (typeof id !== 'string' || id === '' || id.length > maxIdLength || id.includes('\0')) {
    throw new InvalidParameterError('submission id', id, 'Send id as POST /submit answered it')
  }
  return { id }
}

/**
 * Fastify plugin: `GET /tx/status` and `GET /submission` tell what became of a transaction.
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
export const txStatus = fp(plugin, { name: '@ratatosk/tx-status', fastify: '5.x', encapsulate: true })

export default txStatus
