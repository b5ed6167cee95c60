import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { toHex } from '@ratatosk/cbor'
import {
  atMost,
  BusyError,
  clientSignal,
  encoded,
  HttpError,
  hasCode,
  hasMethods,
  layer1ErrorHandler,
  noStore,
  type OperatorAccess,
  openScope,
  operatorAccessRules,
  operatorRoute,
  portOutcome,
  portResult,
  readBy,
  shareAnswers,
} from '@ratatosk/http'
import type { VerdictTransaction } from '@ratatosk/ports'
import { Type } from '@sinclair/typebox'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { OperatorsAnswer, type QuestionAnswer, Summoned, SummonsAnswer, VerdictsAnswer } from './answers.js'
import type { OpenQuestions, OperatorRegistry, Summoner, VerdictList } from './ports.js'
import {
  collectQuestions,
  partOf,
  readQuestionsPart,
  readRequestedQuestion,
  readVerdictsPart,
} from './questions.js'
import { operatorsSchema, summonSchema, summonsSchema, verdictsSchema } from './schemas.js'

/** Why there is no answer. */
export type OperatorsErrorCode =
  | 'OPERATORS_INVALID_PARAMETER'
  | 'OPERATORS_UNKNOWN_BLOCK'
  | 'OPERATORS_NOT_ASKED'
  | 'OPERATORS_BUSY'

/** 404: the state queue does not have the block. */
class UnknownBlockError extends HttpError {
  constructor(headerHash: string) {
    super(404, 'OPERATORS_UNKNOWN_BLOCK', `No such block in the state queue: ${headerHash}`)
  }
}

/** 409: the question is not asked, for this reason. */
class NotAskedError extends HttpError {
  constructor(reason: string) {
    super(409, 'OPERATORS_NOT_ASKED', reason)
  }
}

/** 503: too many questions wait to be asked. */
const tooManyQuestions = (): BusyError =>
  new BusyError('OPERATORS_BUSY', 'Too many questions wait to be asked: retry later')

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isOperatorsError(value: unknown): value is HttpError & { readonly code: OperatorsErrorCode } {
  return hasCode(value, 'OPERATORS_')
}

export { OperatorsAnswer, QuestionAnswer, Summoned, SummonsAnswer, VerdictsAnswer } from './answers.js'

export type {
  OpenQuestions,
  OperatorRegistry,
  RequestedQuestion,
  Summoner,
  SummonOutcome,
  VerdictList,
  VerdictsPart,
} from './ports.js'
export { operatorsSchema, summonSchema, summonsSchema, verdictsSchema } from './schemas.js'

/**
 * Options of {@link operators}: its ports, and who may reach `POST /summon`. A route is served if its port is
 * given; at least one port is required.
 */
export interface OperatorsOptions extends RegisterOptions, OperatorAccess {
  /** Source of `GET /operators`. */
  registry?: OperatorRegistry
  /** Source of `GET /summons`. */
  questions?: OpenQuestions
  /** Source of `GET /verdicts`. */
  verdicts?: VerdictList
  /** Asks the questions of `POST /summon`. */
  summoner?: Summoner
}

const name = '@ratatosk/state-queue/operators'
const rules = {
  registry: Type.Optional(hasMethods('read')),
  questions: Type.Optional(hasMethods('read')),
  verdicts: Type.Optional(hasMethods('list')),
  summoner: Type.Optional(hasMethods('summon')),
  ...operatorAccessRules,
}

/** As far as it is read before it becomes an answer. */
const verdictPage = Type.Object(
  {
    verdicts: Type.Array(
      Type.Object({
        block: Type.Object({}),
        proof: Type.Optional(Type.Object({})),
        transactions: Type.Array(Type.Object({})),
      }),
    ),
  },
  { title: 'BlockVerdicts' },
)
const outcomes = {
  asked: {},
  absent: {},
  refused: { reason: Type.String({ minLength: 1 }) },
  busy: {},
}

/** How long readers share the list of questions, in milliseconds. */
const freshMs = 500
/** Bytes of questions that are kept for readers: about 10,000 questions. */
const maxQuestionBytes = 4 * 1024 * 1024
/** Room for the three fields of `POST /summon`, and for others that a client sends. */
const bodyLimit = 4_096

const plugin: FastifyPluginAsyncTypebox<OperatorsOptions> = async (fastify, options) => {
  openScope(fastify, name, rules, options)
  const { registry, questions, verdicts, summoner } = options
  if (!registry && !questions && !verdicts && !summoner) {
    throw new TypeError(`${name}: one of registry, questions, verdicts, summoner is required`)
  }

  fastify.setErrorHandler(layer1ErrorHandler)
  fastify.addHook('onRequest', noStore)

  if (registry) {
    fastify.get('/operators', { schema: operatorsSchema }, async ({ signal }) =>
      encoded(OperatorsAnswer, await registry.read(signal), 'registry.read'),
    )
  }

  if (questions) {
    const share = shareAnswers<readonly QuestionAnswer[]>(freshMs)
    fastify.get(
      '/summons',
      { schema: summonsSchema, validatorCompiler: readBy(readQuestionsPart) },
      async ({ query }) => {
        const open = await share('', () => collectQuestions(questions, maxQuestionBytes))
        return encoded(SummonsAnswer, partOf(open, query), 'questions.read')
      },
    )
  }

  if (verdicts) {
    fastify.get(
      '/verdicts',
      { schema: verdictsSchema, validatorCompiler: readBy(readVerdictsPart) },
      async ({ query, signal }) => {
        const page = portResult('verdicts.list', verdictPage, await verdicts.list(query, signal))
        const transactionAnswer = ({ id, ...rest }: VerdictTransaction) => ({ ...rest, txHash: id })
        const answer = atMost('verdicts.list', query.limit, page.verdicts).map(
          ({ block, proof, transactions, ...rest }) => ({
            ...rest,
            ...block,
            ...proof,
            transactions: transactions.map(transactionAnswer),
          }),
        )
        return encoded(VerdictsAnswer, { ...page, verdicts: answer }, 'verdicts.list')
      },
    )
  }

  if (summoner) {
    fastify.removeAllContentTypeParsers()
    fastify.addContentTypeParser(
      'application/json',
      { parseAs: 'string' },
      fastify.getDefaultJsonParser('remove', 'remove'),
    )
    fastify.post(
      '/summon',
      {
        ...operatorRoute(options),
        schema: summonSchema,
        validatorCompiler: readBy(readRequestedQuestion),
        bodyLimit,
      },
      async ({ body }, reply) => {
        const given = await summoner.summon(body, clientSignal(reply))
        const outcome = portOutcome('summoner.summon', outcomes, given)
        if (outcome.kind === 'absent') throw new UnknownBlockError(toHex(body.headerHash))
        if (outcome.kind === 'busy') throw tooManyQuestions()
        if (outcome.kind === 'refused') throw new NotAskedError(outcome.reason)
        const { question, transactionId: txHash, deadline } = outcome
        return encoded(Summoned, { question, txHash, deadline }, 'summoner.summon')
      },
    )
  }
}

/**
 * Fastify plugin that reports who may commit blocks, and what disputes them: `GET /operators`, `/summons` and
 * `/verdicts`; `POST /summon` asks a question.
 *
 * Encapsulated: it sets an error handler in its own scope, and one server can hold several instances, each
 * under its `prefix`. Throws a `TypeError` at startup for options that cannot work.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(operators, { registry: { read: async () => view } })
 * ```
 */
export const operators = fp(plugin, { name, fastify: '5.x', encapsulate: true })

export default operators
