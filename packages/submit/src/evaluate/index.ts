import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { toHex } from '@ratatosk/cbor'
import {
  BusyError,
  clientSignal,
  hasMethods,
  noStore,
  openScope,
  optionalInteger,
  portResult,
  readTransactionBodies,
  retryAfterSeconds,
} from '@ratatosk/http'
import type { Evaluation, Evaluations, RedeemerReport, Units } from '@ratatosk/ports'
import { Type } from '@sinclair/typebox'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
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

const amount = Type.Union([Type.BigInt(), Type.Integer()])
const UnitsShape = Type.Object({ memory: amount, steps: amount })
const text = Type.String()
const EvaluationShape = Type.Object(
  {
    verdict: Type.String({ pattern: '^(valid|known|retriable|invalid)$' }),
    transactionId: Type.Optional(Type.Uint8Array({ minByteLength: 32, maxByteLength: 32 })),
    failures: Type.Array(Type.Object({ predicate: text, message: text })),
    redeemers: Type.Array(
      Type.Object({
        purpose: text,
        index: Type.Integer({ minimum: 0 }),
        declared: UnitsShape,
        outcome: Type.Object({
          kind: text,
          used: Type.Optional(UnitsShape),
          message: Type.Optional(text),
          logs: Type.Optional(Type.Array(text)),
        }),
      }),
    ),
    slot: amount,
  },
  { title: 'an Evaluation' },
)

/** @throws {TypeError} for evaluations in JavaScript of another shape; it names the field */
function answerOf(evaluation: Evaluation): EvaluateAnswer {
  const checked = portResult('evaluations.evaluate', EvaluationShape, evaluation)
  const { verdict, transactionId, failures, redeemers, slot } = checked
  return {
    verdict,
    ...(transactionId && { txHash: toHex(transactionId) }),
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
