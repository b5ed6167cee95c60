import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  BusyError,
  clientSignal,
  hasMethods,
  noStore,
  openScope,
  optionalInteger,
  readTransactionBodies,
  retryAfterSeconds,
} from '@ratatosk/http'
import type { Evaluation, Evaluations, RedeemerReport, Units } from '@ratatosk/ports'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { arrayOf, hexOf, integerOf, oneOf, textOf } from '../port-values.js'
import { type EvaluateAnswer, evaluateSchema } from './schemas.js'

export { InvalidCborError, TransactionTooLargeError, UnsupportedTypeError } from '@ratatosk/http'
export type { Evaluation, Evaluations, RedeemerReport, Units } from '@ratatosk/ports'
export { type EvaluateErrorCode, isEvaluateError } from './errors.js'
export { EvaluateAnswer, evaluateSchema } from './schemas.js'

/** Options of {@link evaluate}. */
export interface EvaluateOptions extends RegisterOptions {
  /** Validates the transactions. */
  evaluations: Evaluations
  /** The largest accepted transaction, in bytes of CBOR. Default: 16,384. */
  maxTransactionSize?: number
}

const name = '@ratatosk/submit/evaluate'
const rules = { evaluations: hasMethods('evaluate'), maxTransactionSize: optionalInteger(1) }
const busy = 'Too many transactions wait to be evaluated: retry later, or submit the transaction'

const plugin: FastifyPluginAsyncTypebox<EvaluateOptions> = async (fastify, options) => {
  openScope(fastify, name, rules, options)
  const { evaluations, maxTransactionSize = 16_384 } = options

  const reading = readTransactionBodies(fastify, { prefix: 'EVALUATE', maxSize: maxTransactionSize })
  fastify.post(
    '/evaluate',
    { schema: evaluateSchema, onRequest: noStore, ...reading },
    async ({ body }, reply) => {
      try {
        return answerOf(await evaluations.evaluate(body, clientSignal(reply)))
      } catch (error) {
        const seconds = retryAfterSeconds(error)
        throw seconds === undefined ? error : new BusyError('EVALUATE_BUSY', busy, seconds)
      }
    },
  )
}

const port = 'evaluations.evaluate'
const verdicts: readonly Evaluation['verdict'][] = ['valid', 'known', 'retriable', 'invalid']

/** @throws {TypeError} for evaluations in JavaScript of another shape; it names the field */
function answerOf(evaluation: Evaluation): EvaluateAnswer {
  const { verdict, transactionId, failures, redeemers, slot }: Evaluation = Object(evaluation)
  return {
    verdict: oneOf(verdict, verdicts, `${port}: verdict`),
    ...(transactionId && { txHash: hexOf(transactionId, `${port}: transactionId`) }),
    failures: arrayOf(failures, `${port}: failures`).map(({ predicate, message, details }) => ({
      predicate: textOf(predicate, `${port}: predicate of failures`),
      message: textOf(message, `${port}: message of failures`),
      details,
    })),
    redeemers: arrayOf(redeemers, `${port}: redeemers`).map(reportOf),
    slot: integerOf(slot, `${port}: slot`),
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

/**
 * Fastify plugin: `POST /evaluate` validates a transaction without submitting it: the verdict, every failed
 * predicate, and the budget and use of each script.
 *
 * Encapsulated: it sets a parser and an error handler in its own scope, and one server can hold several
 * instances, each under its `prefix`. Throws a `TypeError` at startup for options that cannot work.
 *
 * @example
 * ```ts
 * const evaluations = openEvaluations({ store, parameters, networkId: 0, slots })
 * await server.register(evaluate, { evaluations })
 * ```
 */
export const evaluate = fp(plugin, { name, fastify: '5.x', encapsulate: true })

export default evaluate
