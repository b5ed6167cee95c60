import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { toHex } from '@ratatosk/cbor'
import {
  BusyError,
  busyBody,
  clientSignal,
  type HttpError,
  hasCode,
  hasMethods,
  internalErrorBody,
  limitResponses,
  noStore,
  openScope,
  optionalInteger,
  portResult,
  readTransactionBodies,
  retryAfterSeconds,
  transactionBody,
  transactionBodyResponses,
} from '@ratatosk/http'
import type { Evaluation, Evaluations, RedeemerReport, Units } from '@ratatosk/ports'
import { type Static, Type } from '@sinclair/typebox'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'

const ExecutionUnits = Type.Object(
  {
    memory: Type.String({ pattern: '^[0-9]+$', description: 'Memory units, a decimal integer' }),
    steps: Type.String({ pattern: '^[0-9]+$', description: 'CPU steps, a decimal integer' }),
  },
  { title: 'ExecutionUnits', description: 'A budget or cost of a script' },
)

const FailedPredicate = Type.Object(
  {
    predicate: Type.String({
      description: 'Predicate of the Haskell ledger, such as FeeTooSmallUTxO, or of the layer-2 profile',
    }),
    message: Type.String({ description: 'The reason, for people' }),
    details: Type.Object(
      {},
      { additionalProperties: true, description: 'What is needed to correct the transaction' },
    ),
  },
  { title: 'FailedPredicate', description: 'A rule that a transaction breaks' },
)

const RedeemerAnswer = Type.Object(
  {
    purpose: Type.String({ description: 'spend, mint, withdraw and so on' }),
    index: Type.Integer({ minimum: 0, description: "Position in the ledger's order of this purpose" }),
    outcome: Type.String({
      description:
        'Succeeded; NotReached if something else failed first; or a failure: ScriptFailure, ' +
        'BudgetExceeded, MalformedScript',
    }),
    declared: ExecutionUnits,
    used: Type.Optional(ExecutionUnits),
    message: Type.Optional(Type.String({ description: 'Why the script failed' })),
    logs: Type.Optional(Type.Array(Type.String(), { description: 'Its traces, if it failed' })),
  },
  { title: 'RedeemerReport', description: 'The script of one redeemer: its budget and what it used' },
)

/** Body of a 200. */
export const EvaluateAnswer = Type.Object(
  {
    verdict: Type.Union(
      [Type.Literal('valid'), Type.Literal('known'), Type.Literal('retriable'), Type.Literal('invalid')],
      {
        description:
          'What submission would do now: accept it; acknowledge it again; try again until its ' +
          'inputs are known or its interval begins; reject it',
      },
    ),
    txHash: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description: 'Transaction hash; absent if the bytes are not a transaction',
      }),
    ),
    failures: Type.Array(FailedPredicate, {
      description:
        'Every predicate that is found to fail. Scripts, and more than three signatures, are ' +
        'validated only if nothing else fails',
    }),
    redeemers: Type.Array(RedeemerAnswer, { description: 'In the order of the transaction' }),
    slot: Type.Integer({ minimum: 0, description: 'Slot at which it was validated' }),
  },
  {
    title: 'Evaluation',
    description: 'What submission of the transaction would lead to now',
    examples: [
      {
        verdict: 'invalid',
        txHash: '6ad4a1f5e7d2c3b4958677685a4b3c2d1e0f9081726354453627181900aabbcc',
        failures: [
          {
            predicate: 'FeeTooSmallUTxO',
            message: 'The fee is 0 lovelace, at least 168273 are needed',
            details: { fee: '0', minimum: '168273' },
          },
        ],
        redeemers: [],
        slot: 59_875_200,
      },
    ],
  },
)
export type EvaluateAnswer = Static<typeof EvaluateAnswer>

/** Route schema of `POST /evaluate`, for OpenAPI documents. */
export const evaluateSchema = {
  operationId: 'evaluate',
  summary: 'Validate a transaction without submitting it',
  description:
    'Applies the rules that validation applies, to the mempool ledger as it is now, and changes ' +
    'nothing. A later submission can end otherwise, because the ledger changes.',
  tags: ['transactions'],
  ...transactionBody,
  response: {
    ...limitResponses(),
    ...transactionBodyResponses(),
    200: EvaluateAnswer,
    500: internalErrorBody(),
    503: busyBody('too many transactions wait to be evaluated'),
  },
}

export { InvalidCborError, TransactionTooLargeError, UnsupportedTypeError } from '@ratatosk/http'
export type { Evaluation, Evaluations, RedeemerReport, Units } from '@ratatosk/ports'

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
/** A bigint has no JSON. */
const Json = Type.Recursive((Value) =>
  Type.Union([
    Type.Record(Type.String(), Value),
    Type.Array(Value),
    text,
    Type.Number(),
    Type.Boolean(),
    Type.Null(),
    Type.Undefined(),
  ]),
)
const EvaluationShape = Type.Object(
  {
    verdict: Type.String({ pattern: '^(valid|known|retriable|invalid)$' }),
    transactionId: Type.Optional(Type.Uint8Array({ minByteLength: 32, maxByteLength: 32 })),
    failures: Type.Array(Type.Object({ predicate: text, message: text, details: Type.Record(text, Json) })),
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

/** Why a transaction was not evaluated. */
export type EvaluateErrorCode =
  | 'EVALUATE_INVALID_CBOR'
  | 'EVALUATE_TOO_LARGE'
  | 'EVALUATE_UNSUPPORTED_TYPE'
  | 'EVALUATE_BUSY'

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isEvaluateError(value: unknown): value is HttpError & { readonly code: EvaluateErrorCode } {
  return hasCode(value, 'EVALUATE_')
}
