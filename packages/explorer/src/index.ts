import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  checkOptions,
  errorHandler,
  hasMethods,
  noStore,
  optionalInteger,
  readBy,
  shareAnswers,
} from '@ratatosk/http'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifySchemaCompiler } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { blockAnswers } from './blocks.js'
import type { ExplorerOptions } from './options.js'
import { overviewAnswer } from './overview.js'
import {
  readBlocksPart,
  readOutputId,
  readRates,
  readRequestedBlock,
  readSearch,
  readTransactionId,
  readTransactionsPart,
} from './parameters.js'
import { createRates } from './rates.js'
import type { ExplorerBlockAnswer } from './schemas/block.js'
import {
  blockSchema,
  blocksSchema,
  outputSchema,
  overviewSchema,
  ratesSchema,
  searchSchema,
  transactionSchema,
  trustSchema,
} from './schemas/routes.js'
import type { ExplorerTransactionAnswer, OutputAnswer, SearchAnswer } from './schemas/transaction.js'
import { search } from './search.js'
import { outputAnswer, transactionAnswers } from './transactions.js'

export type { ExplorerReads } from '@ratatosk/ports'
export { ExplorerBusyError, type ExplorerErrorCode, isExplorerError, NotHereError } from './errors.js'
export type {
  ExplorerIndex,
  ExplorerLayer1,
  ExplorerLedger,
  ExplorerOptions,
  ExplorerOutput,
  ExplorerQueue,
} from './options.js'
export { BlocksAnswer, ExplorerBlock, ExplorerBlockAnswer } from './schemas/block.js'
export { OverviewAnswer, RatesAnswer, TrustAnswer, TrustAnswers } from './schemas/overview.js'
export {
  blockSchema,
  blocksSchema,
  outputSchema,
  overviewSchema,
  ratesSchema,
  searchSchema,
  transactionSchema,
  trustSchema,
} from './schemas/routes.js'
export {
  ExplorerOutputAnswer,
  ExplorerTransactionAnswer,
  OutputAnswer,
  SearchAnswer,
} from './schemas/transaction.js'

const name = '@ratatosk/explorer'
const rules = {
  reads: hasMethods('blocks', 'block', 'totals', 'accepted', 'rejected', 'moved', 'delay'),
  ledger: hasMethods('transaction', 'placeOf', 'transactionsOf', 'mempool', 'head'),
  queue: hasMethods('waiting'),
  index: Type.Optional(hasMethods('outputs', 'knowsAddress', 'assets', 'asset')),
  layer1: Type.Optional(hasMethods('tip', 'wallet')),
  node: Type.Object({ version: Type.String(), role: Type.String(), network: Type.String() }),
  trust: Type.Array(Type.Unknown()),
  maturityWindowMs: optionalInteger(0),
}

/** How long readers share an answer, in milliseconds. */
const freshMs = 500
/** How often acceptances and rejections are counted, in milliseconds, beside each answer. */
const countEveryMs = 30_000

const plugin: FastifyPluginAsyncTypebox<ExplorerOptions> = async (fastify, options) => {
  checkOptions(name, rules, options)
  const { index } = options
  const blocks = blockAnswers(options)
  const transactions = transactionAnswers(options, blocks)
  const overview = overviewAnswer(options)
  const rates = createRates(options)

  const share = {
    json: shareAnswers<Buffer>(freshMs),
    block: shareAnswers<ExplorerBlockAnswer>(freshMs),
    transaction: shareAnswers<ExplorerTransactionAnswer>(freshMs),
    output: shareAnswers<OutputAnswer>(freshMs),
    search: shareAnswers<SearchAnswer>(freshMs),
  }

  fastify.setErrorHandler(errorHandler)
  fastify.addHook('onRequest', noStore)

  const count = () => {
    rates.follow().catch((err: unknown) => fastify.log.warn({ err }, 'The explorer could not count'))
  }
  const timer = setInterval(count, countEveryMs).unref()
  fastify.addHook('preClose', async () => clearInterval(timer))
  fastify.addHook('onReady', async () => count())

  /** The data that every open page reads again and again: its bytes are made once for all of them. */
  async function sendShared(reply: FastifyReply, key: string, read: () => Promise<unknown>): Promise<never> {
    const json = await share.json(key, async () => Buffer.from(reply.serialize(await read()) as string))
    return reply.type('application/json; charset=utf-8').send(json) as never
  }

  fastify.get('/explorer/overview', { schema: overviewSchema }, (_request, reply) =>
    sendShared(reply, 'overview', overview),
  )

  fastify.get(
    '/explorer/rates',
    { schema: ratesSchema, validatorCompiler: readBy(readRates) },
    ({ query: { minutes } }, reply) => sendShared(reply, `rates ${minutes}`, () => rates.answer(minutes)),
  )

  fastify.get(
    '/explorer/blocks',
    { schema: blocksSchema, validatorCompiler: readBy(readBlocksPart) },
    ({ query }, reply) =>
      sendShared(reply, `blocks ${query.before} ${query.limit}`, () => blocks.list(query)),
  )

  fastify.get(
    '/explorer/block/:id',
    { schema: blockSchema, validatorCompiler: byPart(readRequestedBlock, readTransactionsPart) },
    ({ params, query }) =>
      share.block(`${params.text} ${query.offset} ${query.limit}`, () => blocks.details(params, query)),
  )

  fastify.get(
    '/explorer/tx/:hash',
    { schema: transactionSchema, validatorCompiler: readBy(readTransactionId) },
    ({ params: { hash } }) => share.transaction(String(hash), () => transactions.transaction(hash)),
  )

  if (index)
    fastify.get(
      '/explorer/output/:ref',
      { schema: outputSchema, validatorCompiler: readBy(readOutputId) },
      ({ params: { ref } }) =>
        share.output(`${ref.transactionId} ${ref.index}`, () => outputAnswer(index, ref)),
    )

  fastify.get(
    '/explorer/search',
    { schema: searchSchema, validatorCompiler: readBy(readSearch) },
    ({ query: { text } }) => share.search(text, () => search(options, text)),
  )

  fastify.get('/explorer/trust', { schema: trustSchema }, () => ({ answers: [...options.trust] }))
}

/** Like `readBy`, for a route with parameters in its path and in its query. */
function byPart<Params, Part>(
  params: (sent: Params) => unknown,
  query: (sent: Part) => unknown,
): FastifySchemaCompiler<unknown> {
  const [readParams, readQuery] = [readBy(params), readBy(query)]
  return (route) => (route.httpPart === 'params' ? readParams : readQuery)(route)
}

/**
 * Fastify plugin: `/explorer/…` reports what a node does and holds, for people who watch it.
 *
 * Encapsulated: it sets an error handler in its own scope, and one server can hold several instances, each
 * under its `prefix`. Throws a `TypeError` at startup for options that cannot work.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(explorer, { reads: store.explorer, ledger, queue, node, trust: [] })
 * ```
 */
export const explorer = fp(plugin, { name, fastify: '5.x', encapsulate: true })

export default explorer
