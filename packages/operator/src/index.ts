import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  checkOptions,
  hasMethods,
  hexParameter,
  InvalidParameterError,
  layer1ErrorHandler,
  type OperatorAccess,
  oneOf,
  operatorRoute,
  type Query,
  readBy,
  sideEffectingGet,
} from '@ratatosk/http'
import { Type } from '@sinclair/typebox'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import {
  commitAnswer,
  initAnswer,
  mergeAnswer,
  registerAnswer,
  releaseAnswer,
  removeAnswer,
  resetAnswer,
  retireAnswer,
} from './answers.js'
import { drawBlockCounts } from './draw-block-counts.js'
import { loggable } from './loggable.js'
import {
  type BlockCounts,
  type Globals,
  type OperationsRunner,
  type OperatorOperation,
  operations,
} from './ports.js'
import {
  commitSchema,
  initSchema,
  logBlocksSchema,
  logGlobalsSchema,
  mergeSchema,
  registerSchema,
  releaseSchema,
  removeSchema,
  resetSchema,
  retireSchema,
} from './schemas.js'

export type { BlockCount } from '@ratatosk/ports'
export { isRootExistsError, RootExistsError } from './errors.js'
export type { BlockCounts, Globals, OperationsRunner, OperatorOperation } from './ports.js'
export {
  BlocksLogged,
  Committed,
  commitSchema,
  GlobalsLogged,
  InitConflict,
  Initiated,
  initSchema,
  logBlocksSchema,
  logGlobalsSchema,
  Merged,
  mergeSchema,
  Registered,
  Released,
  Removed,
  Reset,
  Retired,
  registerSchema,
  releaseSchema,
  removeSchema,
  resetSchema,
  retireSchema,
} from './schemas.js'

/** The most blocks in the table of `GET /logBlocksTxsDB`. */
const loggedBlocks = 100

/** Options of {@link operator}: its ports, and who may reach its routes. */
export interface OperatorOptions extends RegisterOptions, OperatorAccess {
  /** Runs the operations. */
  operations: OperationsRunner
  /** The operations that are served. Default: all. */
  serve?: readonly OperatorOperation[]
  /** Source of `GET /logBlocksTxsDB`, which is not served without it. */
  blocks?: BlockCounts
  /** Source of `GET /logGlobals`, which is not served without it. */
  globals?: Globals
}

const name = '@ratatosk/operator'
const rules = {
  operations: hasMethods('run'),
  serve: Type.Optional(
    Type.Array(oneOf(...operations), { expected: `an array of ${operations.join(', ')}` }),
  ),
  blocks: Type.Optional(hasMethods('counts')),
  globals: Type.Optional(hasMethods('snapshot')),
}

const plugin: FastifyPluginAsyncTypebox<OperatorOptions> = async (fastify, options) => {
  checkOptions(name, rules, options)
  const { operations: runner, serve = operations, blocks, globals } = options
  const operation = sideEffectingGet(options)
  const guarded = operatorRoute(options)

  fastify.setErrorHandler(layer1ErrorHandler)

  if (serve.includes('init')) {
    fastify.get('/init', { ...operation, schema: initSchema }, async () =>
      initAnswer(await runner.run('init')),
    )
  }
  if (serve.includes('commit')) {
    fastify.get('/commit', { ...operation, schema: commitSchema }, async () =>
      commitAnswer(await runner.run('commit')),
    )
  }
  if (serve.includes('merge')) {
    fastify.get('/merge', { ...operation, schema: mergeSchema }, async () =>
      mergeAnswer(await runner.run('merge')),
    )
  }
  if (serve.includes('reset')) {
    fastify.get('/reset', { ...operation, schema: resetSchema }, async () =>
      resetAnswer(await runner.run('reset')),
    )
  }

  if (serve.includes('remove')) {
    fastify.get<{ Querystring: Removal }>(
      '/remove',
      { ...operation, schema: removeSchema, validatorCompiler: readBy(readRemoval) },
      async ({ query }) => removeAnswer(await runner.run('remove', query)),
    )
  }

  if (serve.includes('register')) {
    fastify.post('/operator/register', { ...guarded, schema: registerSchema }, async () =>
      registerAnswer(await runner.run('register')),
    )
  }
  if (serve.includes('retire')) {
    fastify.post('/operator/retire', { ...guarded, schema: retireSchema }, async () =>
      retireAnswer(await runner.run('retire')),
    )
  }
  if (serve.includes('release')) {
    fastify.post('/operator/release', { ...guarded, schema: releaseSchema }, async () =>
      releaseAnswer(await runner.run('release')),
    )
  }

  if (blocks) {
    fastify.get('/logBlocksTxsDB', { ...guarded, schema: logBlocksSchema }, async ({ log }) => {
      log.info(drawBlockCounts(await blocks.counts(loggedBlocks)))
      return { message: 'BlocksTxsDB drawn in server logs!' as const }
    })
  }

  if (globals) {
    fastify.get('/logGlobals', { ...guarded, schema: logGlobalsSchema }, async ({ log }) => {
      log.info({ globals: loggable(await globals.snapshot()) }, 'Global variables')
      return { message: 'Global variables logged!' as const }
    })
  }
}

/** The block that a request wants removed. */
interface Removal {
  /** 56 hex digits, lower case. */
  readonly headerHash: string
}

function readRemoval({ header_hash: value }: Query): Removal {
  if (hexParameter(value, 28) === undefined) throw new InvalidParameterError('OPERATOR', 'block hash', value)
  return { headerHash: String(value).toLowerCase() }
}

/**
 * Fastify plugin with the operator's routes: `GET /init`, `/commit`, `/merge`, `/reset`, `/remove`,
 * `/logBlocksTxsDB` and `/logGlobals`; `POST /operator/register`, `/operator/retire` and `/operator/release`.
 *
 * Encapsulated: it sets an error handler in its own scope, and one server can hold several instances, each
 * under its `prefix`. Throws a `TypeError` at startup for options that cannot work.
 *
 * @example
 * ```ts
 * const server = fastify()
 * const operations = { run: async () => ({ kind: 'nothing-to-commit' }) }
 * await server.register(operator, { operations, serve: ['commit'] })
 * ```
 */
export const operator = fp(plugin, { name, fastify: '5.x', encapsulate: true })

export default operator
