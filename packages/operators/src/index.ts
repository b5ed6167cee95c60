import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { checkOptions, hasMethods, layer1ErrorHandler, noStore, readBy, shareAnswers } from '@ratatosk/http'
import { Type } from '@sinclair/typebox'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { operatorsAnswer, questionAnswer, verdictAnswer } from './answers.js'
import { readQuestionsPart, readVerdictsPart } from './parameters.js'
import type { ListedQuestion, OpenQuestions, OperatorRegistry, VerdictList } from './ports.js'
import { collectQuestions, partOf } from './questions.js'
import { operatorsSchema, summonsSchema, verdictsSchema } from './schemas.js'

export { isOperatorsError, type OperatorsErrorCode } from './errors.js'
export type {
  ListedOperator,
  ListedQuestion,
  ListedTransaction,
  ListedVerdict,
  OpenQuestions,
  OperatorRegistry,
  OperatorsView,
  VerdictList,
  VerdictsPart,
} from './ports.js'
export {
  OperatorsAnswer,
  operatorsSchema,
  SummonsAnswer,
  summonsSchema,
  VerdictsAnswer,
  verdictsSchema,
} from './schemas.js'

/** Options of {@link operators}. A route is served if its port is given; at least one port is required. */
export interface OperatorsOptions extends RegisterOptions {
  /** Source of `GET /operators`. */
  registry?: OperatorRegistry
  /** Source of `GET /summons`. */
  questions?: OpenQuestions
  /** Source of `GET /verdicts`. */
  verdicts?: VerdictList
}

const name = '@ratatosk/operators'
const rules = {
  registry: Type.Optional(hasMethods('read')),
  questions: Type.Optional(hasMethods('read')),
  verdicts: Type.Optional(hasMethods('list')),
}

/** How long readers share the list of questions, in milliseconds. */
const freshMs = 500
/** Bytes of questions that are kept for readers: about 10,000 questions. */
const maxQuestionBytes = 4 * 1024 * 1024

const plugin: FastifyPluginAsyncTypebox<OperatorsOptions> = async (fastify, options) => {
  const { registry, questions, verdicts } = options
  if (!registry && !questions && !verdicts) {
    throw new TypeError(`${name}: one of registry, questions, verdicts is required`)
  }
  checkOptions(name, rules, options)

  fastify.setErrorHandler(layer1ErrorHandler)
  fastify.addHook('onRequest', noStore)

  if (registry) {
    fastify.get('/operators', { schema: operatorsSchema }, async ({ signal }) =>
      operatorsAnswer(await registry.read(signal)),
    )
  }

  if (questions) {
    const share = shareAnswers<readonly ListedQuestion[]>(freshMs)
    fastify.get(
      '/summons',
      { schema: summonsSchema, validatorCompiler: readBy(readQuestionsPart) },
      async ({ query }) => {
        const open = await share('', () => collectQuestions(questions, maxQuestionBytes))
        const part = partOf(open, query)
        return { questions: part.questions.map(questionAnswer), hasMore: part.hasMore }
      },
    )
  }

  if (verdicts) {
    fastify.get(
      '/verdicts',
      { schema: verdictsSchema, validatorCompiler: readBy(readVerdictsPart) },
      async ({ query, signal }) => {
        const page = await verdicts.list(query, signal)
        return { verdicts: page.verdicts.map(verdictAnswer), hasMore: page.hasMore }
      },
    )
  }
}

/**
 * Fastify plugin that reports who may commit blocks, and what disputes them: `GET /operators`, `/summons` and
 * `/verdicts`.
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
