import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { isWellFormed, toHex } from '@ratatosk/cbor'
import { errorHandler, hexBody, hexBodyLimit, noStore, readBy } from '@ratatosk/http'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import {
  EvaluationsBusyError,
  InvalidCborError,
  MissingContentTypeError,
  TransactionTooLargeError,
} from './errors.js'
import type { Evaluation, Evaluations, RedeemerReport, Units } from './ports.js'
import { type EvaluateAnswer, evaluateSchema } from './schemas.js'

export {
  type EvaluateErrorCode,
  EvaluationsBusyError,
  InvalidCborError,
  isEvaluateError,
  MissingContentTypeError,
  TransactionTooLargeError,
} from './errors.js'
export type { Evaluation, Evaluations, Failure, RedeemerReport, Units } from './ports.js'
export { EvaluateAnswer, evaluateSchema } from './schemas.js'

/** Options of {@link evaluate}. */
export interface EvaluateOptions extends RegisterOptions {
  /** Judges the transactions. */
  evaluations: Evaluations
  /** The largest accepted transaction, in bytes of CBOR. Default: 16,384. */
  maxTransactionSize?: number
}

const plugin: FastifyPluginAsyncTypebox<EvaluateOptions> = async (fastify, options) => {
  const { evaluations, maxTransactionSize = 16_384 } = options
  if (typeof evaluations?.evaluate !== 'function')
    throw new TypeError('@ratatosk/evaluate: evaluations.evaluate must be a function')
  if (!Number.isSafeInteger(maxTransactionSize) || maxTransactionSize < 1)
    throw new TypeError('@ratatosk/evaluate: maxTransactionSize must be a positive integer')

  fastify.setErrorHandler(errorHandler)
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('text/plain', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )

  fastify.post(
    '/evaluate',
    {
      schema: evaluateSchema,
      onRequest: noStore,
      validatorCompiler: readBy(transactionReader(maxTransactionSize)),
      bodyLimit: hexBodyLimit(maxTransactionSize),
    },
    async ({ body, signal }) => {
      try {
        return answerOf(await evaluations.evaluate(body, signal))
      } catch (error) {
        const retryAfterMs = retryAfterOf(error)
        throw retryAfterMs === undefined ? error : new EvaluationsBusyError(retryAfterMs)
      }
    },
  )
}

/** A function from the body to one well-formed CBOR item. */
function transactionReader(maxSize: number): (body: Buffer | null) => Uint8Array {
  return (body) => {
    if (body === null) throw new MissingContentTypeError()
    const cbor = hexBody(body, maxSize)
    if (cbor === 'too large') throw new TransactionTooLargeError()
    if (cbor === 'not hex' || !isWellFormed(cbor)) throw new InvalidCborError()
    return cbor
  }
}

function answerOf({ verdict, transactionId, failures, redeemers, slot }: Evaluation): EvaluateAnswer {
  return {
    verdict,
    ...(transactionId && { tx_hash: toHex(transactionId) }),
    failures: failures.map(({ predicate, message, details }) => ({ predicate, message, details })),
    redeemers: redeemers.map(reportOf),
    slot: Number(slot),
  }
}

function reportOf({
  purpose,
  index,
  declared,
  outcome,
}: RedeemerReport): EvaluateAnswer['redeemers'][number] {
  const { kind, used, message, logs } = outcome
  return {
    purpose,
    index,
    outcome: kind,
    declared: unitsOf(declared),
    ...(used && { used: unitsOf(used) }),
    ...(message !== undefined && { message }),
    ...(logs && { logs: [...logs] }),
  }
}

function unitsOf({ memory, steps }: Units) {
  return { memory: String(memory), steps: String(steps) }
}

function retryAfterOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('retryAfterMs' in error)) return undefined
  const { retryAfterMs } = error
  return typeof retryAfterMs === 'number' && retryAfterMs > 0 ? retryAfterMs : undefined
}

/**
 * Fastify plugin: `POST /evaluate` tells what submission of a transaction would lead to: the verdict, every failed predicate, and the
 * budget and use of each script. Changes nothing.
 *
 * Encapsulated: it sets a parser and an error handler in its own scope, and one server can hold several instances, each under its
 * `prefix`. Throws a `TypeError` at startup for options that cannot work.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(evaluate, { evaluations: openEvaluations({ store, parameters, networkId: 0, slots }) })
 * ```
 */
export const evaluate = fp(plugin, { name: '@ratatosk/evaluate', fastify: '5.x', encapsulate: true })

export default evaluate
