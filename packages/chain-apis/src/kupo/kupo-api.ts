import { Readable } from 'node:stream'
import { equalBytes, fromHex, hexOrNull, isDecodeError, toHex } from '@ratatosk/cbor'
import {
  blake2b224,
  blake2b256,
  byReference,
  decodeAddress,
  outputReferenceKey,
  type Script,
  type Transaction,
} from '@ratatosk/ledger'
import { bech32 } from 'bech32'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type ConnectedClient, clientOf } from '../client-signal.js'
import { ChainUnavailableError, isChainUnavailable, isForClients } from '../errors.js'
import { type ApiOptions, addFaultHook } from '../faults/fault-hook.js'
import { encodeJson, lazyList } from '../json.js'
import type { LongLists } from '../long-lists.js'
import { addressText, readAddressText } from '../view/address-text.js'
import type { ChainOutput, ChainOutputQuery, ChainView, ListPart } from '../view/chain-view.js'
import { paymentCredential, stakeCredential, units } from '../view/outputs.js'

interface MatchesQuery extends Filters {
  readonly spent?: string
  readonly unspent?: string
  readonly order?: string
  readonly resolve_hashes?: string
}

/** The part of the Kupo API that wallets and SDKs use: matches, datums, scripts, health and checkpoints. */
export async function kupoApi(
  fastify: FastifyInstance,
  { chain, lists, faults }: ApiOptions & { readonly lists: LongLists },
): Promise<void> {
  fastify.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500
    const isExpected = status < 500 || isForClients(error)
    if (!isExpected) request.log.error(error)
    if (isChainUnavailable(error)) reply.header('retry-after', '1')
    return reply.code(status).send(hint(isExpected ? error.message : 'Unexpected server error.'))
  })
  fastify.setNotFoundHandler((_request, reply) =>
    reply
      .code(404)
      .send(
        hint(
          'Endpoint not found. Make sure to double-check the documentation at: ' +
            'https://cardanosolutions.github.io/kupo!',
        ),
      ),
  )
  addFaultHook(fastify, {
    faults,
    target: 'kupo',
    errorBody: (_status, message) => hint(message),
  })
  fastify.addHook('onSend', async (_request, reply, payload) => {
    const { slot, hash } = await chain.tip()
    reply.header('x-most-recent-checkpoint', String(slot)).header('etag', hash)
    return payload
  })

  const utxos = { config: { operation: 'utxos' as const } }
  fastify.get<{ Params: { '*': string }; Querystring: MatchesQuery }>(
    '/matches/*',
    utxos,
    async (request, reply) => sendMatches(request, reply, readSelection(request.params['*'], request.query)),
  )
  fastify.get<{ Querystring: MatchesQuery }>('/matches', utxos, async (request, reply) =>
    sendMatches(request, reply, readSelection('*', request.query)),
  )

  async function sendMatches(
    { method }: FastifyRequest,
    reply: FastifyReply,
    selection: Selection | string,
  ): Promise<FastifyReply> {
    if (typeof selection === 'string') return reply.code(400).send(hint(selection))
    // HEAD costs no search.
    const body = method === 'HEAD' ? [] : await matchesOf(selection, clientOf(reply))
    return reply.type(jsonType).send(Readable.from(body))
  }

  function matchesOf({ query, order, resolveHashes, matches }: Selection, client: ConnectedClient) {
    const itemsOf = (page: readonly ChainOutput[]) => matchesJson(chain, page.filter(matches), resolveHashes)
    return lists.read(chain.outputPages(query, order), itemsOf, client)
  }

  const hash = /^[0-9a-f]+$/
  fastify.get<{ Params: { hash: string } }>(
    '/datums/:hash',
    { config: { operation: 'datum' } },
    async ({ params }, reply) => {
      if (params.hash.length !== 64 || !hash.test(params.hash)) {
        return reply.code(400).send(hint('Invalid datum hash: expected 64 lower-case hex digits.'))
      }
      const datum = (await chain.datums([params.hash])).get(params.hash)
      return json(reply, datum === undefined ? null : { datum: Buffer.from(datum).toString('hex') })
    },
  )
  fastify.get<{ Params: { hash: string } }>(
    '/scripts/:hash',
    { config: { operation: 'script' } },
    async ({ params }, reply) => {
      if (params.hash.length !== 56 || !hash.test(params.hash)) {
        return reply.code(400).send(hint('Invalid script hash: expected 56 lower-case hex digits.'))
      }
      const script = await chain.script(params.hash)
      return json(reply, script === undefined ? null : scriptJson(script))
    },
  )

  const tip = { config: { operation: 'tip' as const } }
  fastify.get('/health', tip, async (_request, reply) => {
    const { slot } = await chain.tip()
    return json(reply, {
      connection_status: 'connected',
      most_recent_checkpoint: slot,
      most_recent_node_tip: slot,
      seconds_since_last_block: ((chain.currentSlot() - slot) * BigInt(chain.slots.slotLength)) / 1000n,
      network_synchronization: 1,
      configuration: { indexes: 'installed' },
      version: 'v2.11.0',
    })
  })
  fastify.get('/checkpoints', tip, async (_request, reply) => {
    const points = []
    for (let { height } = await chain.tip(), back = 1; height > 0; height -= back, back *= 2) {
      const block = await chain.block(height)
      if (block !== undefined && block.open !== true) points.push(pointJson(block))
    }
    return json(reply, points)
  })
  fastify.get('/patterns', async () => ['*'])
}

const jsonType = 'application/json;charset=utf-8'

function json(reply: FastifyReply, body: unknown): FastifyReply {
  return reply.type(jsonType).send(encodeJson(body))
}

interface Selection {
  readonly query: ChainOutputQuery
  readonly order: NonNullable<ListPart['order']>
  readonly resolveHashes: boolean
  matches(output: ChainOutput): boolean
}

/** @returns what the request selects, or what is wrong with it */
function readSelection(text: string, query: MatchesQuery): Selection | string {
  const pattern = readPattern(text)
  if (pattern === undefined) {
    return 'Invalid pattern! Fetching matches from a pattern must be done using a valid pattern.'
  }
  const filters = readFilters(query)
  if (typeof filters === 'string') return filters
  const order = query.order ?? 'most_recent_first'
  if (order !== 'most_recent_first' && order !== 'oldest_first') {
    return 'order must be most_recent_first or oldest_first'
  }
  const onlySpent = query.spent !== undefined
  const onlyUnspent = query.unspent !== undefined
  if (onlySpent && onlyUnspent) return 'spent and unspent are mutually exclusive'
  return {
    query: {
      ...filters.query,
      ...pattern.query,
      ...(onlySpent && { spent: true }),
      ...(onlyUnspent && { spent: false }),
    },
    order: order === 'oldest_first' ? 'oldest-first' : 'newest-first',
    resolveHashes: query.resolve_hashes !== undefined,
    matches: (output) => pattern.matches(output) && filters.matches(output),
  }
}

function hint(text: string): { hint: string } {
  return { hint: text }
}

const languages = {
  native: 'native',
  PlutusV1: 'plutus:v1',
  PlutusV2: 'plutus:v2',
  PlutusV3: 'plutus:v3',
} as const

/** The datums and scripts that outputs refer to. */
interface Referred {
  /** By hash. */
  readonly spenders: ReadonlyMap<string, Transaction>
  /** By hash, if hashes are to be resolved. */
  readonly datums?: ReadonlyMap<string, Uint8Array>
}

/**
 * Outputs in Kupo's format. Quantities are bigints, see `encodeJson`. `found` is one page: its references are
 * read at once.
 * @throws {ChainUnavailableError} if a transaction that spent an output has been undone meanwhile
 */
export async function matchesJson(
  chain: ChainView,
  found: readonly ChainOutput[],
  resolveHashes: boolean,
): Promise<Iterable<unknown>> {
  const hashes = found.flatMap(({ output: { datum } }) => (datum.kind === 'hash' ? toHex(datum.hash) : []))
  const spent = found.flatMap((output) => output.spent?.transactionHash ?? [])
  const spenders = await some(spent, (wanted) => chain.transactions(wanted))
  if (!spent.every((hash) => spenders.has(hash))) {
    throw new ChainUnavailableError('A transaction of the answer has been undone. Ask again.')
  }
  const referred = {
    spenders,
    ...(resolveHashes && { datums: await some(hashes, (wanted) => chain.datums(wanted)) }),
  }
  return lazyList(found, (output) => matchJson(output, referred))
}

/** The known values of these hashes; without hashes, no query. */
async function some<Value>(
  hashes: readonly string[],
  read: (hashes: readonly string[]) => ReadonlyMap<string, Value> | Promise<ReadonlyMap<string, Value>>,
): Promise<ReadonlyMap<string, Value>> {
  return hashes.length === 0 ? new Map() : read([...new Set(hashes)])
}

function matchJson(found: ChainOutput, { spenders, datums }: Referred) {
  const { output, created, transactionHash, index } = found
  const { datum, referenceScript } = output
  const hash =
    datum.kind === 'inline' ? blake2b256(datum.data) : datum.kind === 'hash' ? datum.hash : undefined
  const assets: Record<string, bigint> = {}
  for (const [policy, names] of output.value.assets) {
    for (const [name, quantity] of names) assets[name === '' ? policy : `${policy}.${name}`] = quantity
  }
  const known = datum.kind === 'inline' ? datum.data : hash && datums?.get(toHex(hash))
  return {
    transaction_index: created.position,
    transaction_id: transactionHash,
    output_index: index,
    address: addressText(output.address),
    value: { coins: output.value.lovelace, assets },
    datum_hash: hexOrNull(hash),
    datum_type: datum.kind === 'none' ? undefined : datum.kind,
    script_hash: hexOrNull(referenceScript?.hash),
    created_at: pointJson(created.block),
    spent_at: spentJson(found, spenders),
    ...(datums && {
      datum: hexOrNull(known),
      script: referenceScript === undefined ? null : scriptJson(referenceScript),
    }),
  }
}

function scriptJson({ language, bytes }: Script) {
  return { language: languages[language], script: toHex(bytes) }
}

function pointJson({ slot, hash }: { readonly slot: bigint; readonly hash: string }) {
  return { slot_no: slot, header_hash: hash }
}

/** Where an output was spent, and with which redeemer. The ledger numbers inputs by reference. */
function spentJson({ key, spent }: ChainOutput, spenders: Referred['spenders']) {
  if (spent === undefined) return null
  const spender = spenders.get(spent.transactionHash)
  const references = spent.by === 'inputs' ? spender?.body.inputs : spender?.body.collateralInputs
  const position = [...(references ?? [])].sort(byReference).map(outputReferenceKey).indexOf(key)
  const redeemer = spender?.witnesses.redeemers.find(
    ({ purpose, index }) => purpose === 'spend' && index === position,
  )
  return {
    ...pointJson(spent.block),
    transaction_id: spent.transactionHash,
    input_index: position,
    redeemer: spent.by === 'inputs' ? hexOrNull(redeemer?.data) : null,
  }
}

/** The outputs that a request selects. */
interface Pattern {
  /** Narrows the search to what the chain has indexed. `matches` repeats its conditions. */
  readonly query: ChainOutputQuery
  matches(output: ChainOutput): boolean
}

const hash28 = /^[0-9a-f]{56}$/
const hash32 = /^[0-9a-f]{64}$/

/**
 * Parses a Kupo pattern: `*`, an address (bech32, base58 or hex), `payment/delegation` credentials (hex or
 * bech32), `policy.name` or `index@transaction`. `*` stands for any credential, name or index.
 */
export function readPattern(text: string): Pattern | undefined {
  if (text === '*' || text === '*/*') return { query: {}, matches: () => true }
  return readReference(text) ?? readAsset(text) ?? readCredentials(text) ?? readAddress(text)
}

function readReference(text: string): Pattern | undefined {
  const match = /^(\*|\d{1,5})@([0-9a-f]{64})$/.exec(text)
  if (match === null) return undefined
  const [, index, transaction] = match
  if (transaction === undefined) return undefined
  if (index === '*')
    return { query: { transaction }, matches: (output) => output.transactionHash === transaction }
  const key = `${transaction}#${Number(index)}`
  return { query: { references: [key] }, matches: (output) => output.key === key }
}

function readAsset(text: string): Pattern | undefined {
  const match = /^([0-9a-f]{56})\.(\*|(?:[0-9a-f]{2}){0,32})$/.exec(text)
  const [, policy, name] = match ?? []
  if (policy === undefined || name === undefined) return undefined
  if (name !== '*') return { query: { unit: policy + name }, matches: holds(policy + name) }
  return { query: { policy }, matches: ({ output }) => output.value.assets.has(policy) }
}

function readCredentials(text: string): Pattern | undefined {
  const [payment, stake, ...rest] = text.split('/').map(readCredential)
  if (payment === undefined || stake === undefined || rest.length > 0) return undefined
  return {
    query: {
      ...(payment !== '*' && { paymentCredential: payment }),
      ...(stake !== '*' && { stakeCredential: stake }),
    },
    matches: ({ output }) =>
      (payment === '*' || paymentCredential(output) === payment) &&
      (stake === '*' || stakeCredential(output) === stake),
  }
}

function readAddress(text: string): Pattern | undefined {
  try {
    const address = /^([0-9a-f]{2}){29,}$/.test(text) ? decodeAddress(fromHex(text)) : readAddressText(text)
    if (address.kind === 'reward') {
      const stake = toHex(address.stake.hash)
      return { query: { stakeCredential: stake }, matches: ({ output }) => stakeCredential(output) === stake }
    }
    const bytes = toHex(address.bytes)
    return {
      query: { address: bytes },
      matches: ({ output }) => equalBytes(output.address.bytes, address.bytes),
    }
  } catch (error) {
    if (isDecodeError(error)) return undefined
    throw error
  }
}

interface Filters {
  readonly policy_id?: string
  readonly asset_name?: string
  readonly transaction_id?: string
  readonly output_index?: string
}

/** @returns what the filters select, or what is wrong with them */
function readFilters(filters: Filters): string | Pattern {
  const { policy_id: policy, asset_name: name, transaction_id: transaction, output_index: index } = filters
  if (policy !== undefined && !hash28.test(policy)) return 'policy_id must be 56 lower-case hex digits'
  if (name !== undefined && policy === undefined) return 'asset_name requires policy_id'
  if (transaction !== undefined && !hash32.test(transaction)) {
    return 'transaction_id must be 64 lower-case hex digits'
  }
  if (index !== undefined && transaction === undefined) return 'output_index requires transaction_id'
  return {
    query: {
      ...(policy !== undefined && (name === undefined ? { policy } : { unit: policy + name })),
      ...(transaction !== undefined && { transaction }),
    },
    matches: (output) =>
      (policy === undefined || name !== undefined || output.output.value.assets.has(policy)) &&
      (policy === undefined || name === undefined || holds(policy + name)(output)) &&
      (transaction === undefined || output.transactionHash === transaction) &&
      (index === undefined || output.index === Number(index)),
  }
}

function holds(unit: string): (output: ChainOutput) => boolean {
  return ({ output }) => [...units(output)].includes(unit)
}

/** Prefixes of keys and of hashes in bech32 (CIP-5) that Kupo takes for credentials. */
const prefixes: Readonly<Record<number, readonly string[]>> = {
  28: ['vkh', 'addr_vkh', 'stake_vkh', 'script'],
  32: ['vk', 'addr_vk', 'stake_vk'],
}

/** Parses a credential as Kupo does (hash or public key; hex or bech32) to the hash in hex, or `*`. */
function readCredential(text: string): string | undefined {
  if (text === '*' || hash28.test(text)) return text
  if (hash32.test(text)) return toHex(blake2b224(fromHex(text)))
  const decoded = bech32.decodeUnsafe(text, 128)
  const bytes = decoded && bech32.fromWordsUnsafe(decoded.words)
  if (bytes === undefined || !prefixes[bytes.length]?.includes(decoded?.prefix ?? '')) return undefined
  return toHex(bytes.length === 32 ? blake2b224(Uint8Array.from(bytes)) : Uint8Array.from(bytes))
}
