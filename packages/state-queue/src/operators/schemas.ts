import {
  bodyResponses,
  connectionResponses,
  errorBody,
  forbiddenBody,
  internalErrorBody,
  layer1FailureBody,
  limitResponses,
  orBusy,
  unauthorizedBody,
} from '@ratatosk/http'
import { type Static, Type } from '@sinclair/typebox'
import { defaultLimit, maxLimit, maxOffset } from '../list-parameters.js'
import { maxChunk, type QuestionsPart, verdictStates } from './parameters.js'
import type {
  ListedQuestion,
  ListedTransaction,
  ListedVerdict,
  RequestedQuestion,
  VerdictsPart,
} from './ports.js'

const headerHash = Type.String({ pattern: '^[0-9a-f]{56}$', description: 'Header hash of the block' })
const keyHash = (description: string) => Type.String({ pattern: '^[0-9a-f]{56}$', description })
const time = (description: string) => Type.String({ format: 'date-time', description })
const lovelace = (description: string) => Type.String({ pattern: '^[0-9]+$', description })
const oneOf = <Text extends string>(texts: readonly Text[], description: string) =>
  Type.Unsafe<Text>(Type.String({ enum: [...texts], description }))
const hasMore = Type.Boolean({ description: 'Whether there is another page' })

const RegisteredOperator = Type.Object(
  {
    operatorKey: keyHash('Hash of the verification key'),
    bond: lovelace('Lovelace that the registry holds for the operator'),
    activeFrom: time('Start of the first turn in which the operator counts'),
    activeUntil: Type.Optional(
      time('Start of the first turn without the operator; absent until the operator retires'),
    ),
    releaseAt: Type.Optional(
      time('From when on the bond may be withdrawn; absent until the operator retires'),
    ),
  },
  { title: 'RegisteredOperator', description: 'An operator in the registry on layer 1' },
)

/** Body of `GET /operators`. */
export const OperatorsAnswer = Type.Object(
  {
    inTurn: Type.Optional(keyHash('Key hash of the operator in turn; absent if none counts in this turn')),
    next: Type.Optional(keyHash('Key hash of the operator in the next turn; absent if there is none yet')),
    turnEndsAt: time('When the turn ends'),
    takeOverAt: Type.Optional(
      time('From when on any operator may commit; absent before the state queue is initialised'),
    ),
    turnLength: Type.Integer({ minimum: 1, description: 'Length of each turn in milliseconds' }),
    operators: Type.Array(RegisteredOperator, {
      description: 'In the order of their turns; empty before the registry is initialised',
    }),
    maxOperators: Type.Integer({ minimum: 1, description: 'How many operators the registry can hold' }),
    permissioned: Type.Boolean({ description: 'Whether the administrator admits operators' }),
  },
  { title: 'Operators', description: 'The operators on layer 1 and their turns' },
)
export type OperatorsAnswer = Static<typeof OperatorsAnswer>

const kinds = ['chunk', 'subtree', 'leaf', 'entry'] as const satisfies readonly ListedQuestion['kind'][]
const roots = [
  'utxosRoot',
  'transactionsRoot',
  'depositsRoot',
  'withdrawalsRoot',
] as const satisfies readonly ListedQuestion['root'][]

const OpenQuestion = Type.Object(
  {
    question: Type.String({
      pattern: '^[0-9a-f]{64}#[0-9]+$',
      description: 'Output that holds the question: <tx_hash>#<output_index>',
    }),
    headerHash,
    kind: oneOf(
      kinds,
      'A chunk of the transactions; a node of a map with its children; any leaf below a node; an entry',
    ),
    root: oneOf(roots, 'The field of the header that commits to the map'),
    key: Type.String({
      pattern: '^([0-9a-f]{2})*$',
      description:
        'Number of the chunk; or a path, and in the last byte how many of its nibbles lead to the node',
    }),
    deadline: time('From then on, the question may become a verdict against the block'),
    bond: lovelace('Lovelace in the output'),
  },
  { title: 'OpenQuestion', description: 'A question on layer 1 that has no answer yet' },
)

/** Body of `GET /summons`. */
export const SummonsAnswer = Type.Object(
  {
    questions: Type.Array(OpenQuestion, { description: 'The earliest deadline first' }),
    hasMore,
  },
  { title: 'OpenQuestions', description: 'A page of the questions about blocks that have no answer yet' },
)
export type SummonsAnswer = Static<typeof SummonsAnswer>

const stages = [
  'question',
  'datum',
  'verdict',
  'removal',
  'prune',
] as const satisfies readonly ListedTransaction['stage'][]

const VerdictAnswer = Type.Object(
  {
    headerHash,
    height: Type.Integer({ minimum: 0 }),
    operatorKey: keyHash("Hash of the operator's verification key"),
    state: oneOf<ListedVerdict['state']>(
      verdictStates,
      'unavailable: no one serves the body of the block; valid: the body came, and breaks no rule; ' +
        'invalid: the block breaks a rule; unprovable: and no policy can prove it on layer 1; removing: ' +
        'transactions are sent; removed: the block is no longer in the state queue',
    ),
    reason: Type.String({ description: 'The broken rule, or what is missing, for people' }),
    position: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Place in the block of the transaction that breaks the rule' }),
    ),
    policy: Type.Optional(Type.String({ description: 'Verdict policy that proves the fraud' })),
    fraud: Type.Optional(Type.String({ description: 'Name of the fraud in that policy' })),
    transactions: Type.Array(
      Type.Object({
        txHash: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Transaction hash on layer 1' }),
        stage: oneOf(
          stages,
          'Asks for what the operator hides; stores a datum of the proof; mints the verdict; removes the ' +
            'block; prunes the blocks behind it',
        ),
        fee: lovelace('Lovelace'),
        sentAt: time('When it was sent'),
      }),
      { description: 'Layer-1 transactions on the way to the removal, oldest first' },
    ),
    foundAt: time('When the node found it'),
    removedAt: Type.Optional(time('When the node saw that the block is removed')),
  },
  { title: 'BlockVerdict', description: 'What the node found against a block' },
)
export type VerdictAnswer = Static<typeof VerdictAnswer>

/** Body of `GET /verdicts`. */
export const VerdictsAnswer = Type.Object(
  { verdicts: Type.Array(VerdictAnswer, { description: 'Newest first' }), hasMore },
  { title: 'BlockVerdicts', description: 'A page of what the node found against blocks' },
)
export type VerdictsAnswer = Static<typeof VerdictsAnswer>

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
      state: Type.Optional(oneOf(verdictStates, 'Only verdicts in this state')),
      limit,
      before: hashParameter('Only verdicts after this one in the list'),
    }),
  ),
  response: { 200: VerdictsAnswer, ...refusals },
}

/** Body of a 200 of `POST /summon`. */
export const Summoned = Type.Object(
  {
    question: Type.String({
      pattern: '^[0-9a-f]{64}#[0-9]+$',
      description: 'Output that holds the question: <tx_hash>#<output_index>',
    }),
    txHash: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Layer-1 transaction that asks' }),
    deadline: time('From then on, silence is a verdict against the block'),
  },
  { title: 'Summoned', description: 'A question that is on its way to layer 1' },
)
export type Summoned = Static<typeof Summoned>

/** Route schema of `POST /summon`, for OpenAPI documents. */
export const summonSchema = {
  operationId: 'summon',
  summary: 'Ask the operator of a block for its body, on layer 1',
  description:
    'For blocks whose body no peer serves: the watcher of this process asks for a chunk of it now, within ' +
    'its hourly budget, and then goes on as if its patience were over. It locks 3 ada until the answer.',
  tags,
  body: Type.Unsafe<RequestedQuestion>(
    Type.Object({
      headerHash,
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
