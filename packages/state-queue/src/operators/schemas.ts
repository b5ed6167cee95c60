import {
  bodyResponses,
  connectionResponses,
  enumText,
  errorBody,
  forbiddenBody,
  internalErrorBody,
  layer1FailureBody,
  limitResponses,
  orBusy,
  unauthorizedBody,
} from '@ratatosk/http'
import { Type } from '@sinclair/typebox'
import { defaultLimit, maxLimit, maxOffset } from '../list-parameters.js'
import { OperatorsAnswer, Summoned, SummonsAnswer, VerdictsAnswer, verdictStates } from './answers.js'
import type { RequestedQuestion, VerdictsPart } from './ports.js'
import { maxChunk, type QuestionsPart } from './questions.js'

const tags = ['operators']
/** The responses of a read that is not answered 200. */
const failures = { ...limitResponses(), 500: internalErrorBody(), 503: orBusy(layer1FailureBody()) }
const refusals = { ...failures, 400: errorBody('A parameter is malformed; the message names it') }

// `Type.Unsafe` describes parameters as sent and types them as the handler sees them, after `readBy`.

const hashParameter = (description: string) =>
  Type.Optional(Type.String({ pattern: '^[0-9a-fA-F]{56}$', description }))
const limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: maxLimit, default: defaultLimit, description: 'The most to answer' }),
)

/** Route schema of `GET /operators`, for OpenAPI documents. */
export const operatorsSchema = {
  operationId: 'listOperators',
  summary: 'Operators, their bonds and turns',
  description: 'Read from the operator registry on layer 1.',
  tags,
  response: { 200: OperatorsAnswer, ...failures },
}

/** Route schema of `GET /summons`, for OpenAPI documents. */
export const summonsSchema = {
  operationId: 'listQuestions',
  summary: 'Open questions about blocks on layer 1',
  description:
    'All readers share a list for half a second. It has about 10,000 questions at most: those whose ' +
    'deadlines come first.',
  tags,
  querystring: Type.Unsafe<QuestionsPart>(
    Type.Object({
      header_hash: hashParameter('Only questions about this block'),
      limit,
      offset: Type.Optional(
        Type.Integer({ minimum: 0, maximum: maxOffset, default: 0, description: 'How many to skip' }),
      ),
    }),
  ),
  response: { 200: SummonsAnswer, ...refusals },
}

/** Route schema of `GET /verdicts`, for OpenAPI documents. */
export const verdictsSchema = {
  operationId: 'listVerdicts',
  summary: 'Invalid blocks that the node found, and their removals',
  description: 'Newest first. Pass the `headerHash` of the last one as `before` for the next page.',
  tags,
  querystring: Type.Unsafe<VerdictsPart>(
    Type.Object({
      state: Type.Optional(enumText(verdictStates, 'Only verdicts in this state')),
      limit,
      before: hashParameter('Only verdicts after this one in the list'),
    }),
  ),
  response: { 200: VerdictsAnswer, ...refusals },
}

/** Route schema of `POST /summon`, for OpenAPI documents. */
export const summonSchema = {
  operationId: 'summon',
  summary: 'Ask the operator of a block for its body, on layer 1',
  description:
    'For blocks whose body no peer serves: the watcher of this process asks for a chunk of it now, within ' +
    'its hourly budget, and then goes on as if its patience were over. It locks 2.5 ada until the answer.',
  tags,
  body: Type.Unsafe<RequestedQuestion>(
    Type.Object({
      headerHash: Type.String({ pattern: '^[0-9a-f]{56}$', description: 'Header hash of the block' }),
      kind: Type.Literal('chunk', { description: 'A chunk of the transactions' }),
      chunk: Type.Integer({ minimum: 0, maximum: maxChunk, description: 'Its number, from 0' }),
    }),
  ),
  response: {
    ...bodyResponses(),
    ...connectionResponses(),
    200: Summoned,
    400: errorBody('The body is malformed; the message says what to send instead'),
    401: unauthorizedBody(),
    403: forbiddenBody(),
    404: errorBody('The state queue does not have the block'),
    409: errorBody('Not asked: Already asked, Too late: …, Not missing: …, Not sent: …, Too many: …'),
    413: errorBody('The body is too large'),
    415: errorBody('The content type is not application/json'),
    500: internalErrorBody(),
    503: orBusy(layer1FailureBody()),
  },
}
