import {
  busyBody,
  internalErrorBody,
  limitResponses,
  transactionBody,
  transactionBodyResponses,
} from '@ratatosk/http'
import { type Static, Type } from '@sinclair/typebox'

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

const RedeemerReport = Type.Object(
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
    redeemers: Type.Array(RedeemerReport, { description: 'In the order of the transaction' }),
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
