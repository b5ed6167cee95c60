import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { toHex } from '@ratatosk/cbor'
import {
  atMost,
  errorHandler,
  HttpError,
  hasCode,
  hasMethods,
  InvalidParameterError,
  type OperatorAccess,
  onlyParameters,
  openScope,
  operatorAccessRules,
  operatorRoute,
  portResult,
  type Query,
  readBy,
} from '@ratatosk/http'
import type { RejectionRecord } from '@ratatosk/ports'
import { Type } from '@sinclair/typebox'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { type DeadLetterSummary, dropSchema, listSchema, replaySchema, showSchema } from './schemas.js'

/** 404: no dead letter has this submission id. */
export class DeadLetterNotFoundError extends HttpError {
  constructor(submissionId: string) {
    super(404, 'DEAD_LETTERS_NOT_FOUND', `Dead letter not found: ${submissionId}`)
  }
}

/** 409: the letter cannot be replayed, because retention has dropped its CBOR. */
export class DeadLetterDroppedError extends HttpError {
  constructor(submissionId: string) {
    super(
      409,
      'DEAD_LETTERS_CBOR_DROPPED',
      `The CBOR of dead letter ${submissionId} is no longer kept: submit the transaction again`,
    )
  }
}

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isDeadLettersError(value: unknown): value is HttpError {
  return hasCode(value, 'DEAD_LETTERS_')
}

export {
  DeadLetterAnswer,
  DeadLetterPage,
  DeadLetterSummary,
  dropSchema,
  listSchema,
  Replayed,
  replaySchema,
  showSchema,
} from './schemas.js'

const defaultLimit = 100
const maxLimit = 500

/** Options of {@link deadLetters}: its port, and who may reach its routes. */
export interface DeadLettersOptions extends RegisterOptions, OperatorAccess {
  /** The dead letters that are served. */
  deadLetters: DeadLetters
}

const text = Type.String()
const Letter = Type.Object(
  {
    submissionId: text,
    digest: Type.Uint8Array(),
    transactionId: Type.Optional(Type.Uint8Array()),
    code: text,
    message: text,
    attempts: Type.Integer(),
    count: Type.Integer(),
    submittedAt: Type.Date(),
    rejectedAt: Type.Date(),
    cbor: Type.Optional(Type.Uint8Array()),
    replayedAs: Type.Optional(text),
  },
  { title: 'a DeadLetter, or undefined' },
)
const Letters = Type.Array(Type.Intersect([Letter, Type.Object({ sequence: Type.BigInt() })]), {
  title: 'an array of ListedDeadLetter',
})
const ReplayedAs = Type.Object({ id: text }, { title: "{ id }, 'not-found' or 'dropped'" })
const Dropped = Type.Boolean({ title: 'a boolean' })

interface Page {
  readonly limit: number
  readonly before?: bigint
}

const name = '@ratatosk/operator/dead-letters'
const rules = { deadLetters: hasMethods('list', 'find', 'replay', 'drop'), ...operatorAccessRules }

const plugin: FastifyPluginAsyncTypebox<DeadLettersOptions> = async (fastify, options) => {
  openScope(fastify, name, rules, options)
  const { deadLetters: letters } = options
  const route = operatorRoute(options)

  fastify.setErrorHandler(errorHandler)

  fastify.get<{ Querystring: Page }>(
    '/deadLetters',
    { ...route, schema: listSchema, validatorCompiler: readBy(readPage) },
    async ({ query }) => {
      const list = portResult('deadLetters.list', Letters, await letters.list(query))
      const page = atMost('deadLetters.list', query.limit, list)
      const last = page.at(-1)
      const more = last !== undefined && page.length === query.limit
      return { deadLetters: page.map(summaryOf), ...(more && { before: String(last.sequence) }) }
    },
  )

  fastify.get('/deadLetters/:id', { ...route, schema: showSchema }, async ({ params }) => {
    const id = readId(params)
    const found = (await letters.find(id)) ?? undefined
    if (found === undefined) throw new DeadLetterNotFoundError(id)
    const letter = portResult('deadLetters.find', Letter, found)
    const { cbor, details } = letter
    return { ...summaryOf(letter), ...(cbor && { cbor: toHex(cbor) }), details }
  })

  fastify.post('/deadLetters/:id/replay', { ...route, schema: replaySchema }, async ({ params }) => {
    const id = readId(params)
    const replayed = await letters.replay(id)
    if (replayed === 'not-found') throw new DeadLetterNotFoundError(id)
    if (replayed === 'dropped') throw new DeadLetterDroppedError(id)
    return portResult('deadLetters.replay', ReplayedAs, replayed)
  })

  fastify.delete('/deadLetters/:id', { ...route, schema: dropSchema }, async ({ params }, reply) => {
    const id = readId(params)
    const dropped = portResult('deadLetters.drop', Dropped, await letters.drop(id))
    if (!dropped) throw new DeadLetterNotFoundError(id)
    return reply.code(204).send(null)
  })
}

/** Ids are never made with NUL, which PostgreSQL cannot store in a text. */
function readId({ id }: { readonly id: string }): string {
  if (id.includes('\0')) throw new DeadLetterNotFoundError(id)
  return id
}

function readPage(query: Query): Page {
  const { limit, before } = query
  onlyParameters('DEAD_LETTERS', query, ['limit', 'before'])
  return { limit: readLimit(limit), ...(before !== undefined && { before: readPosition(before) }) }
}

function readLimit(value: Query[string]): number {
  if (value === undefined) return defaultLimit
  if (typeof value !== 'string' || !/^[0-9]{1,9}$/.test(value) || Number(value) < 1) {
    throw new InvalidParameterError('DEAD_LETTERS', 'limit', value, 'Send a whole number from 1')
  }
  return Math.min(Number(value), maxLimit)
}

function readPosition(value: Query[string]): bigint {
  // 18 digits fit into PostgreSQL's bigint.
  if (typeof value !== 'string' || !/^[0-9]{1,18}$/.test(value))
    throw new InvalidParameterError(
      'DEAD_LETTERS',
      'before',
      value,
      'Send before as GET /deadLetters answered it',
    )
  return BigInt(value)
}

function summaryOf(letter: DeadLetter): DeadLetterSummary {
  const { submissionId, digest, transactionId, code, message, attempts, count } = letter
  return {
    id: submissionId,
    digest: toHex(digest),
    ...(transactionId && { txHash: toHex(transactionId) }),
    code,
    reason: message,
    attempts,
    count,
    submittedAt: letter.submittedAt.toISOString(),
    rejectedAt: letter.rejectedAt.toISOString(),
    ...(letter.replayedAs !== undefined && { replayedAs: letter.replayedAs }),
  }
}

/**
 * Fastify plugin that lets operators list, show, replay and drop dead letters: `GET /deadLetters`,
 * `GET /deadLetters/{id}`, `POST /deadLetters/{id}/replay` and `DELETE /deadLetters/{id}`.
 *
 * Encapsulated: it sets an error handler in its own scope, and one server can hold several instances, each
 * under its `prefix`. Throws a `TypeError` at startup for options that cannot work.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(deadLetters, { deadLetters: letters, operatorToken: 'secret' })
 * ```
 */
export const deadLetters = fp(plugin, {
  name,
  fastify: '5.x',
  encapsulate: true,
})

export default deadLetters

/** A transaction that validation rejected for good. */
export interface DeadLetter extends RejectionRecord {
  /** SHA-256 of the submitted bytes: a letter keeps it when they are rejected again. */
  readonly digest: Uint8Array
  /** CBOR as submitted; absent once retention has dropped it. */
  readonly cbor?: Uint8Array
  /** Id of the submission of the latest replay. */
  readonly replayedAs?: string
}

/** A dead letter in a list: its position orders the list. */
export interface ListedDeadLetter extends DeadLetter {
  /** Greater for letters that were rejected later. */
  readonly sequence: bigint
}

/** The dead letters of a node. */
export interface DeadLetters {
  /** Newest first: at most `limit` letters, those before the position `before` if it is given. */
  list(page: { readonly limit: number; readonly before?: bigint }): Promise<readonly ListedDeadLetter[]>
  /** The letter of a submission. */
  find(submissionId: string): Promise<DeadLetter | undefined>
  /**
   * Submits the letter's transaction again. The letter stays, for the case that it is rejected again.
   *
   * @returns the id of the new submission; `'not-found'` without such a letter; `'dropped'` when its CBOR is
   *   no longer kept
   */
  replay(submissionId: string): Promise<{ readonly id: string } | 'not-found' | 'dropped'>
  /** Removes a letter; false if there was none. */
  drop(submissionId: string): Promise<boolean>
}
