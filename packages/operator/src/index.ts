import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { bearerToken, layer1ErrorHandler, noStore, sideEffectingGet } from '@ratatosk/http'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { committed, initiated, merged, wasReset } from './answers.js'
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
  resetSchema,
} from './schemas.js'

export type { Operation, OperationFailure, OperationResult } from '@ratatosk/http'
export { RootExistsError } from './answers.js'
export type { BlockCount, BlockCounts, Globals, OperationsRunner, OperatorOperation } from './ports.js'
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
  Reset,
  resetSchema,
} from './schemas.js'

/** Blocks in the table of `GET /logBlocksTxsDB` at most. */
const loggedBlocks = 100

export interface OperatorOptions extends RegisterOptions {
  /** Where operations are run. */
  operations: OperationsRunner
  /** Which of them are served, each by the path of its name. Default: all four. */
  serve?: readonly OperatorOperation[]
  /** `GET /logBlocksTxsDB`; not served without it. */
  blocks?: BlockCounts
  /** `GET /logGlobals`; not served without it. */
  globals?: Globals
  /** What every route asks for as `Authorization: Bearer`. Without it nobody is asked. */
  operatorToken?: string
}

const plugin: FastifyPluginAsyncTypebox<OperatorOptions> = async (fastify, options) => {
  const { operations: runner, serve = operations, blocks, globals, operatorToken } = options
  if (typeof runner?.run !== 'function') {
    throw new TypeError('@ratatosk/operator: operations.run must be a function')
  }
  const unknown = serve.find((name) => !operations.includes(name))
  if (unknown !== undefined) throw new TypeError(`@ratatosk/operator: no such operation: ${unknown}`)
  const guards = operatorToken === undefined ? [] : [bearerToken(operatorToken)]
  const operation = sideEffectingGet(...guards)

  fastify.setErrorHandler(layer1ErrorHandler)

  if (serve.includes('init')) {
    fastify.get('/init', { ...operation, schema: initSchema }, async () =>
      initiated(await runner.run('init')),
    )
  }
  if (serve.includes('commit')) {
    fastify.get('/commit', { ...operation, schema: commitSchema }, async () =>
      committed(await runner.run('commit')),
    )
  }
  if (serve.includes('merge')) {
    fastify.get('/merge', { ...operation, schema: mergeSchema }, async () =>
      merged(await runner.run('merge')),
    )
  }
  if (serve.includes('reset')) {
    fastify.get('/reset', { ...operation, schema: resetSchema }, async () =>
      wasReset(await runner.run('reset')),
    )
  }

  if (blocks) {
    fastify.get(
      '/logBlocksTxsDB',
      { schema: logBlocksSchema, onRequest: [noStore, ...guards] },
      async ({ log }) => {
        log.info(drawBlockCounts(await blocks.counts(loggedBlocks)))
        return { message: 'BlocksTxsDB drawn in server logs!' as const }
      },
    )
  }

  if (globals) {
    fastify.get(
      '/logGlobals',
      { schema: logGlobalsSchema, onRequest: [noStore, ...guards] },
      async ({ log }) => {
        log.info({ globals: loggable(await globals.snapshot()) }, 'Global variables')
        return { message: 'Global variables logged!' as const }
      },
    )
  }
}

/**
 * Fastify plugin: what an operator asks of a node, `GET /init`, `/commit`, `/merge`, `/reset`, `/logBlocksTxsDB` and `/logGlobals`.
 *
 * It is encapsulated: its error handler is its own, and several instances fit into one server, each under its `prefix`.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(operator, { operations: { run: async () => ({ kind: 'nothing-to-commit' }) }, serve: ['commit'] })
 * ```
 */
export const operator = fp(plugin, { name: '@ratatosk/operator', fastify: '5.x', encapsulate: true })

export default operator
