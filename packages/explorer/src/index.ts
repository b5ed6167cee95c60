import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { fromHex } from '@ratatosk/cbor'
import { addressText, readAddressText } from '@ratatosk/chain-apis'
import {
  errorHandler,
  hasMethods,
  noStore,
  openScope,
  optionalInteger,
  type Query,
  readBy,
  shareAnswers,
} from '@ratatosk/http'
import { type Address, isAddressError, outputReferenceKey } from '@ratatosk/ledger'
import { type TObject, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { blockAnswers } from './blocks.js'
import { checkedPorts } from './checked-ports.js'
import type { ExplorerOptions } from './options.js'
import { overviewAnswer } from './overview.js'
import {
  outputId,
  readBlocksPart,
  readOutputId,
  readRates,
  readRequestedBlock,
  readSearch,
  readTransactionId,
  readTransactionsPart,
  refuseUnknown,
} from './parameters.js'
import { createRates } from './rates.js'
import type {
  ExplorerBlockAnswer,
  ExplorerTransactionAnswer,
  Kind,
  OutputAnswer,
  SearchAnswer,
} from './schemas/answers.js'
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
import { outputAnswer, transactionAnswers } from './transactions.js'

export type { ExplorerOutput, ExplorerReads } from '@ratatosk/ports'
export { ExplorerBusyError, type ExplorerErrorCode, isExplorerError, NotHereError } from './errors.js'
export type {
  ExplorerIndex,
  ExplorerLayer1,
  ExplorerLedger,
  ExplorerOptions,
  ExplorerQueue,
} from './options.js'
export {
  BlocksAnswer,
  ExplorerBlock,
  ExplorerBlockAnswer,
  ExplorerOutputAnswer,
  ExplorerTransactionAnswer,
  OutputAnswer,
  OverviewAnswer,
  RatesAnswer,
  SearchAnswer,
  TrustAnswer,
  TrustAnswers,
} from './schemas/answers.js'
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

const name = '@ratatosk/explorer'
const optionalFunction = Type.Optional(Type.Function([], Type.Unknown(), { expected: 'a function' }))
const rules = {
  reads: hasMethods('blocks', 'block', 'totals', 'accepted', 'acceptedBefore', 'rejected', 'moved', 'delay'),
  ledger: hasMethods('transaction', 'placeOf', 'transactionsOf', 'mempool', 'head'),
  queue: hasMethods('waiting'),
  index: Type.Optional(hasMethods('outputs', 'knowsAddress', 'assets', 'asset')),
  layer1: Type.Optional(hasMethods('tip', 'wallet')),
  node: Type.Object(
    { version: Type.String(), role: Type.String(), network: Type.String() },
    { expected: 'an object with the texts version, role, network' },
  ),
  trust: Type.Array(Type.Unknown(), { expected: 'an array' }),
  maturityWindowMs: optionalInteger(0),
  sequencer: optionalFunction,
  runScripts: optionalFunction,
  knowsSubmission: optionalFunction,
  clock: optionalFunction,
}

/** How long readers share an answer, in milliseconds. */
const freshMs = 500
/** How often acceptances and rejections are counted, in milliseconds, beside each answer. */
const countEveryMs = 30_000

const plugin: FastifyPluginAsyncTypebox<ExplorerOptions> = async (fastify, given) => {
  openScope(fastify, name, rules, given)
  const options = checkedPorts(given)
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
  fastify.addHook('preValidation', refuseMisspelt)

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

/** Refuses parameters that a route with a query does not have. */
async function refuseMisspelt({ query, routeOptions: { schema } }: FastifyRequest): Promise<void> {
  const { properties } = (schema?.querystring ?? {}) as Partial<TObject>
  if (properties) refuseUnknown(query as Query, Object.keys(properties))
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

type Match = SearchAnswer['matches'][number]

/** Something that a text can name. */
interface Candidate extends Match {
  readonly isHere: () => Promise<boolean>
}

type Sources = Pick<ExplorerOptions, 'reads' | 'ledger' | 'index' | 'knowsSubmission'>

/** Finds what a text names, hexadecimal digits in lower case; asks only what has the form of it. */
async function search(sources: Sources, text: string): Promise<SearchAnswer> {
  const candidates = candidatesOf(sources, text)
  const here = await Promise.all(candidates.map(({ isHere }) => isHere()))
  return {
    matches: candidates.flatMap(({ kind, id, path }, position): Match[] =>
      here[position] ? [{ kind, id, path }] : [],
    ),
    couldBe: candidates.map(({ kind }) => kind),
  }
}

const blockfrost = '/l2/blockfrost/api/v0'

function candidatesOf({ reads, ledger, index, knowsSubmission }: Sources, text: string): Candidate[] {
  const found: Candidate[] = []
  const add = (kind: Kind, id: string, path: string, isHere: Candidate['isHere']) =>
    found.push({ kind, id, path, isHere })
  const isHex = /^([0-9a-f]{2})+$/.test(text)

  if (/^[0-9]{1,15}$/.test(text)) {
    add('block', text, `/explorer/block/${text}`, async () => (await reads.block(BigInt(text))) !== undefined)
  }
  if (isHex && text.length === 64) {
    add('transaction', text, `/explorer/tx/${text}`, async () => {
      return (await ledger.placeOf(fromHex(text))) !== undefined
    })
  }
  if (isHex && text.length === 56) {
    add(
      'block',
      text,
      `/explorer/block/${text}`,
      async () => (await reads.block(fromHex(text))) !== undefined,
    )
    if (index)
      add('policy', text, `${blockfrost}/assets/policy/${text}`, async () => {
        return (await index.assets(fromHex(text), { offset: 0, limit: 1 })).length > 0
      })
  }
  if (index && isHex && text.length >= 56 && text.length <= 120) {
    const [policy, name] = [fromHex(text.slice(0, 56)), fromHex(text.slice(56))]
    add(
      'asset',
      text,
      `${blockfrost}/assets/${text}`,
      async () => (await index.asset(policy, name)) !== undefined,
    )
  }
  const reference = outputId(text)
  if (index && reference) {
    const id = outputReferenceKey(reference)
    add('output', id, `/explorer/output/${encodeURIComponent(id)}`, async () => {
      return (await index.outputs({ references: [reference] }, { offset: 0, limit: 1 })).length > 0
    })
  }
  const address = addressOf(text)
  if (index && address) {
    const id = addressText(address)
    add('address', id, `${blockfrost}/addresses/${id}`, () => index.knowsAddress(address.bytes))
  }
  if (found.length === 0 && knowsSubmission)
    add('submission', text, `/submission?id=${encodeURIComponent(text)}`, () => knowsSubmission(text))
  return found
}

function addressOf(text: string): Address | undefined {
  try {
    return readAddressText(text)
  } catch (error) {
    if (isAddressError(error)) return undefined
    throw error
  }
}
