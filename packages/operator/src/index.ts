import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { toHex } from '@ratatosk/cbor'
import {
  atMost,
  HttpError,
  hasMethods,
  hexParameter,
  InvalidParameterError,
  layer1ErrorHandler,
  type OperatorAccess,
  oneOf,
  onlyParameters,
  openScope,
  operationError,
  operationResult,
  operatorAccessRules,
  operatorRoute,
  portResult,
  type Query,
  readBy,
  sideEffectingGet,
} from '@ratatosk/http'
import type { BlockCount, Operation, OperationDetails, OperationResult } from '@ratatosk/ports'
import { Type } from '@sinclair/typebox'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import {
  type Committed,
  commitSchema,
  type Initiated,
  initSchema,
  logBlocksSchema,
  logGlobalsSchema,
  type Merged,
  mergeSchema,
  type Registered,
  type Released,
  type Removed,
  type Reset,
  type Retired,
  registerSchema,
  releaseSchema,
  removeSchema,
  resetSchema,
  retireSchema,
} from './schemas.js'

/** The operations of this plugin. `@ratatosk/state-queue` serves the remaining one, `repair`. */
const operations = [
  'init',
  'commit',
  'merge',
  'reset',
  'remove',
  'register',
  'retire',
  'release',
] as const satisfies readonly Operation[]

/** One of {@link operations}. */
export type OperatorOperation = (typeof operations)[number]

/** Runs operations, one at a time. */
export interface OperationsRunner {
  /**
   * Runs one operation to its end. Every foreseen outcome is a result; rejects on unexpected failures only.
   *
   * @param details for `remove`: the block
   */
  run(operation: OperatorOperation, details?: OperationDetails): Promise<OperationResult>
}

/** Source of `GET /logBlocksTxsDB`. */
export interface BlockCounts {
  /** At most `limit` of the newest blocks, in the order in which they are to be logged. */
  counts(limit: number): Promise<readonly BlockCount[]>
}

/** Source of `GET /logGlobals`. */
export interface Globals {
  /**
   * The node's in-memory state, as a value or a promise. It is logged in full, so it must not contain
   * secrets.
   */
  snapshot(): unknown
}

type RootExists = Extract<OperationResult, { kind: 'root-exists' }>

/** 409: a root unit exists already; the body says where. `code` is `OPERATOR_ROOT_EXISTS`. */
export class RootExistsError extends HttpError {
  constructor({ rootUnit, stateQueueAddress, count, outRefs }: RootExists) {
    const message =
      count === 1
        ? 'The state queue is already initialised: this is its root unit'
        : `There are ${count} root units instead of one: run /stateQueue/repair-root-units, then /init`
    super(409, 'OPERATOR_ROOT_EXISTS', message, {
      bodyFields: { rootUnit, stateQueueAddress, count, outRefs },
    })
  }
}

/** Whether a caught value is a {@link RootExistsError}; works across copies of this package. */
export function isRootExistsError(value: unknown): value is RootExistsError {
  return value instanceof Error && value.name === 'RootExistsError'
}

export type { BlockCount, Operation, OperationDetails, OperationResult } from '@ratatosk/ports'

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
  ...operatorAccessRules,
}

const plugin: FastifyPluginAsyncTypebox<OperatorOptions> = async (fastify, options) => {
  openScope(fastify, name, rules, options)
  const { operations: runner, serve = operations, blocks, globals } = options
  const run: typeof runner.run = async (...asked) =>
    operationResult('operations.run', await runner.run(...asked))
  const operation = sideEffectingGet(options)
  const guarded = operatorRoute(options)

  fastify.setErrorHandler(layer1ErrorHandler)

  if (serve.includes('init')) {
    fastify.get('/init', { ...operation, schema: initSchema }, async () => initAnswer(await run('init')))
  }
  if (serve.includes('commit')) {
    fastify.get('/commit', { ...operation, schema: commitSchema }, async () =>
      commitAnswer(await run('commit')),
    )
  }
  if (serve.includes('merge')) {
    fastify.get('/merge', { ...operation, schema: mergeSchema }, async () => mergeAnswer(await run('merge')))
  }
  if (serve.includes('reset')) {
    fastify.get('/reset', { ...operation, schema: resetSchema }, async () => resetAnswer(await run('reset')))
  }

  if (serve.includes('remove')) {
    fastify.get<{ Querystring: Removal }>(
      '/remove',
      { ...operation, schema: removeSchema, validatorCompiler: readBy(readRemoval) },
      async ({ query }) => removeAnswer(await run('remove', query)),
    )
  }

  if (serve.includes('register')) {
    fastify.post('/operator/register', { ...guarded, schema: registerSchema }, async () =>
      registerAnswer(await run('register')),
    )
  }
  if (serve.includes('retire')) {
    fastify.post('/operator/retire', { ...guarded, schema: retireSchema }, async () =>
      retireAnswer(await run('retire')),
    )
  }
  if (serve.includes('release')) {
    fastify.post('/operator/release', { ...guarded, schema: releaseSchema }, async () =>
      releaseAnswer(await run('release')),
    )
  }

  if (blocks) {
    fastify.get('/logBlocksTxsDB', { ...guarded, schema: logBlocksSchema }, async ({ log }) => {
      const counts = portResult('blocks.counts', Counts, await blocks.counts(loggedBlocks))
      log.info(drawBlockCounts(atMost('blocks.counts', loggedBlocks, counts)))
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

function readRemoval(query: Query): Removal {
  const { header_hash: value } = query
  onlyParameters('OPERATOR', query, ['header_hash'])
  if (hexParameter(value, 28) === undefined)
    throw new InvalidParameterError('OPERATOR', 'block hash', value, 'Send header_hash with 56 hex digits')
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
 * const operations: OperationsRunner = { run: async () => ({ kind: 'nothing-to-commit' }) }
 * await server.register(operator, { operations, serve: ['commit'] })
 * ```
 */
export const operator = fp(plugin, { name, fastify: '5.x', encapsulate: true })

export default operator

const Counts = Type.Array(
  Type.Object({
    height: Type.BigInt(),
    state: Type.String(),
    transactions: Type.Integer(),
    headerHash: Type.Uint8Array(),
  }),
  { title: 'an array of BlockCount' },
)

const titles = ['height', 'state', 'transactions', 'header hash']

/**
 * Formats blocks and their transaction counts as a table, one line per block.
 *
 * @example
 * ```
 * Blocks: 2, transactions: 31
 *   height  state      transactions  header hash
 *       13  committed            11  91bb0123…
 *       12  merged               20  77aa01bc…
 * ```
 */
function drawBlockCounts(blocks: readonly BlockCount[]): string {
  if (blocks.length === 0) return 'Blocks: none'
  const total = blocks.reduce((sum, { transactions }) => sum + transactions, 0)
  const rows = blocks.map(({ height, state, transactions, headerHash }) => [
    String(height),
    state,
    String(transactions),
    toHex(headerHash),
  ])
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const lines = [titles, ...rows].map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0
        return column % 2 === 0 ? cell.padStart(width) : cell.padEnd(width)
      })
      .join('  ')
      .trimEnd(),
  )
  return [`Blocks: ${blocks.length}, transactions: ${total}`, ...lines.map((line) => `  ${line}`)].join('\n')
}

/** Levels of nesting that are logged. */
const maxDepth = 16

/** Converts a value to JSON for the log. Circular references become `[circular]`, deep ones `[deeper]`. */
function loggable(value: unknown): unknown {
  return toJson(value, [])
}

function toJson(value: unknown, ancestors: readonly object[]): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'symbol') return value.toString()
  if (typeof value === 'function') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (ancestors.includes(value)) return '[circular]'
  if (ancestors.length === maxDepth) return '[deeper]'
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (value instanceof Error) return `${value.name}: ${value.message}`
  const path = [...ancestors, value]
  if (Array.isArray(value) || value instanceof Set) return [...value].map((item) => toJson(item, path))
  const entries = value instanceof Map ? [...value] : Object.entries(value)
  return Object.fromEntries(entries.map(([key, item]) => [keyOf(key), toJson(item, path)]))
}

function keyOf(key: unknown): string {
  return key instanceof Uint8Array ? Buffer.from(key).toString('hex') : String(key)
}

/** Body of `/init`. Like the functions below, throws the error with which any other result is answered. */
function initAnswer(result: OperationResult): Initiated {
  if (result.kind === 'root-exists') throw new RootExistsError(result)
  if (result.kind !== 'initiated') throw operationError('init', result)
  const { transactionId, rootUnit, isRegistration } = result
  const outcome = isRegistration
    ? 'Registered the operator with the state queue that there is'
    : 'Initiation successful'
  return { message: `${outcome}: ${transactionId}`, txHash: transactionId, rootUnit }
}

function commitAnswer(result: OperationResult): Committed {
  if (result.kind === 'nothing-to-commit') return { message: 'Nothing to commit', transactions: 0 }
  if (result.kind !== 'committed') throw operationError('commit', result)
  const { headerHash, transactionId, transactions } = result
  const message = `Block commitment successful: ${headerHash}`
  return { message, headerHash, txHash: transactionId, transactions }
}

function mergeAnswer(result: OperationResult): Merged {
  if (result.kind === 'nothing-to-merge') return { message: 'Nothing to merge' }
  if (result.kind !== 'merged') throw operationError('merge', result)
  const { headerHash, transactionId } = result
  return {
    message: `Merging confirmed state successful: ${headerHash}`,
    headerHash,
    txHash: transactionId,
  }
}

function resetAnswer(result: OperationResult): Reset {
  if (result.kind !== 'reset') throw operationError('reset', result)
  return { message: 'Collected all UTxOs successfully!' }
}

function removeAnswer(result: OperationResult): Removed {
  if (result.kind !== 'removed') throw operationError('remove', result)
  const { headerHash, transactionId, removed } = result
  return {
    message: `Block removal successful: ${headerHash}`,
    headerHash,
    txHash: transactionId,
    removed: [...removed],
  }
}

/** Body of `/operator/register`. */
function registerAnswer(result: OperationResult): Registered {
  if (result.kind !== 'registered') throw operationError('register', result)
  const { transactionId, operatorKey, bond, activeFrom } = result
  const message = done('The operator is registered', transactionId)
  return { ...message, operatorKey, bond, activeFrom: timeOf(activeFrom) }
}

/** Body of `/operator/retire`. */
function retireAnswer(result: OperationResult): Retired {
  if (result.kind !== 'retired') throw operationError('retire', result)
  const { transactionId, operatorKey, activeUntil, releaseAt } = result
  const message = done('The operator has retired', transactionId)
  return { ...message, operatorKey, activeUntil: timeOf(activeUntil), releaseAt: timeOf(releaseAt) }
}

/** Body of `/operator/release`. */
function releaseAnswer(result: OperationResult): Released {
  if (result.kind !== 'released') throw operationError('release', result)
  const { transactionId, operatorKey, bond } = result
  if (bond === '0') return { message: 'The registry has no bond of the operator', operatorKey, bond }
  return { ...done('The bond is withdrawn', transactionId), operatorKey, bond }
}

function done(message: string, txHash: string | undefined): { message: string; txHash?: string } {
  return txHash === undefined ? { message: `${message} already` } : { message, txHash }
}

const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString()
