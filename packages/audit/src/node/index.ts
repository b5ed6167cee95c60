import { CborReader, fromHex } from '@ratatosk/cbor'
import { bech32 } from 'bech32'
import { addressOfOutput } from '../grammar/output.js'
import { readOutref } from '../transaction.js'
import type { HeldOutput, NodePlace, NodeSource } from '../types.js'

interface RequestOptions {
  readonly signal: AbortSignal
  readonly maxAnswerBytes?: number
}

/** Of the client of `@ratatosk/client`, all that is used here. Answers may have any shape. */
export interface NodeClient {
  getStateQueue(options: RequestOptions): Promise<unknown>
  listBlockTransactions(
    parameters: { readonly header_hash: string },
    options: RequestOptions,
  ): Promise<unknown>
  getTransactionStatuses(parameters: { readonly tx_hash: string }, options: RequestOptions): Promise<unknown>
  getTransaction(parameters: { readonly tx_hash: string }, options: RequestOptions): Promise<unknown>
  getOutput(parameters: { readonly ref: string }, options: RequestOptions): Promise<unknown>
  listUtxos(parameters: { readonly address: string }, options: RequestOptions): Promise<unknown>
  readEvents(
    parameters: { readonly type: 'accepted' },
    options: RequestOptions,
  ): AsyncGenerator<{ readonly type: string; readonly data: unknown }, void>
}

/** Time limits of a list, which may be long. */
export interface ListOptions {
  /** Milliseconds in which a node must send more of the list. @defaultValue 30000 */
  readonly stallMs?: number
  /** Milliseconds of waiting for the whole list. @defaultValue 10 times `stallMs` */
  readonly timeoutMs?: number
}

const concurrency = 8

/** Bytes of an answer: of one that names blocks, has a transaction or statuses, and of the ids of a block. */
const mostBytes = { few: 4 << 20, ids: 32 << 20 }

/** Bytes of an answer with outputs, besides two for each byte of the expected ones. */
const outputs = { least: mostBytes.ids, each: 300 }

const idDigits = 64
const headerHashDigits = 56

/**
 * A node's answers about its ledger, over HTTP. Its outputs need a node of role `all` or `reader` that
 * serves `/l2`.
 *
 * @param url base of the node
 * @param options time limits of the list of its outputs, which the client does not read
 * @example
 * const client = createClient(url)
 * await audit({ layer1, archivist, genesis, node: nodeSource(client, url), accepted: acceptedBy(client) })
 */
export function nodeSource(client: NodeClient, url: string, options: ListOptions = {}): NodeSource {
  const few = (signal: AbortSignal) => ({ signal, maxAnswerBytes: mostBytes.few })
  return {
    queue: async (signal) => hashesIn(await client.getStateQueue(few(signal)), 'headers', headerHashDigits),
    transactionsOf: async (header_hash, signal) =>
      hashesIn(
        await client.listBlockTransactions({ header_hash }, { signal, maxAnswerBytes: mostBytes.ids }),
        'hashes',
        idDigits,
      ),
    placesOf: async (ids, signal) =>
      placesIn(await client.getTransactionStatuses({ tx_hash: ids.join(',') }, few(signal)), ids),
    transaction: (tx_hash, signal) =>
      unlessNotFound(async () =>
        fromHex(textIn(await client.getTransaction({ tx_hash }, few(signal)), 'tx')),
      ),
    spenderOf: (ref, signal) =>
      unlessNotFound(async () => {
        const output = optionalIn(await client.getOutput({ ref }, few(signal)), 'output')
        const spender = optionalIn(output, 'spentBy')
        return spender === undefined ? undefined : hashIn(spender, 'txHash', idDigits)
      }),
    unspentOutputs: (derived, signal) => unspentOutputs({ client, url, signal, options }, derived),
  }
}

function placesIn(answer: unknown, ids: readonly string[]): readonly NodePlace[] {
  const statuses = listIn(answer, 'statuses')
  if (statuses.some((status, position) => hashIn(status, 'txHash', idDigits) !== ids[position]))
    throw new Error('its answer has statuses of other transactions')
  return statuses.map(placeIn)
}

function placeIn(answer: unknown): NodePlace {
  const block = optionalIn(answer, 'block')
  const status = textIn(answer, 'status')
  if (block === undefined) return { status }
  return {
    status,
    block: { height: heightIn(block, 'height'), headerHash: hashIn(block, 'headerHash', headerHashDigits) },
  }
}

/** Undefined for data that a node does not have. A route that it does not serve is no answer. */
async function unlessNotFound<T>(answer: () => Promise<T>): Promise<T | undefined> {
  try {
    return await answer()
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

interface Place {
  readonly client: NodeClient
  readonly url: string
  readonly signal: AbortSignal
  readonly options: ListOptions
}

/**
 * The outputs of each address from the node's ledger. Its index lists all addresses, and the outputs of
 * scripts, which the ledger does not serve by address.
 */
async function* unspentOutputs(
  { client, url, signal, options }: Place,
  derived: Iterable<Uint8Array>,
): AsyncGenerator<HeldOutput, void> {
  const addresses = new Set<string>()
  let maxAnswerBytes = outputs.least
  for (const output of derived) {
    maxAnswerBytes += 2 * output.length + outputs.each
    const address = addressOfOutput(output)
    if (isOfKey(address)) addresses.add(addressText(address))
  }
  for await (const { key, address } of unspentMatches(url, signal, options)) {
    if (isOfKey(addressBytes(address))) addresses.add(address)
    else yield { key }
  }
  const asked = [...addresses]
  const stop = new AbortController()
  const request = { signal: AbortSignal.any([signal, stop.signal]), maxAnswerBytes }
  try {
    for (let first = 0; first < asked.length; first += concurrency) {
      const answers = await Promise.all(
        asked.slice(first, first + concurrency).map((address) => client.listUtxos({ address }, request)),
      )
      for (const answer of answers)
        for (const utxo of listIn(answer, 'utxos'))
          yield {
            key: readOutref(new CborReader(fromHex(textIn(utxo, 'outref')))).key,
            output: fromHex(textIn(utxo, 'value')),
          }
    }
  } finally {
    // If one fails, the others end too.
    stop.abort()
  }
}

/** The limit of 90 characters of BIP-173 does not apply to addresses. */
const longest = 1000

/** The text of an address that a key owns: CIP-19. */
const addressText = (address: Uint8Array): string =>
  bech32.encode(((address[0] ?? 0) & 1) === 1 ? 'addr' : 'addr_test', bech32.toWords(address), longest)

/** The bytes of an address. @throws Error if the text is not an address */
const addressBytes = (text: string): Uint8Array =>
  Uint8Array.from(bech32.fromWords(bech32.decode(text, longest).words))

/** Whether a key owns an address, whose outputs a node lists: types 0, 2, 4 and 6. */
const isOfKey = ([header = 0xff]: Uint8Array): boolean => (header & 0x90) === 0

/** Whether a node answered 404 for what it does not have, rather than for what it does not serve. */
function isNotFound(error: unknown): boolean {
  if (!(error instanceof Error && 'status' in error && error.status === 404)) return false
  const body = 'body' in error ? (error.body as { readonly code?: unknown } | undefined) : undefined
  return body?.code !== 'DISABLED'
}

/** Milliseconds in which the events of a node must come to their head; comparing them does not count. */
const longestWaitMs = 300_000

/** Ids of the transactions that a node says to have accepted until now, from its events. */
export async function* acceptedBy(client: Pick<NodeClient, 'readEvents'>): AsyncGenerator<string, void> {
  const stop = new AbortController()
  const events = client.readEvents({ type: 'accepted' }, { signal: stop.signal })
  let left = longestWaitMs
  try {
    for (;;) {
      const since = performance.now()
      const late = setTimeout(() => stop.abort(new Error('its events do not end')), left)
      const next = await events.next().finally(() => clearTimeout(late))
      left -= performance.now() - since
      if (next.done === true) return
      const { type, data } = next.value
      if (type === 'accepted') yield hashIn(data, 'txHash', 64)
    }
  } finally {
    stop.abort()
  }
}

/** An entry of an answer, which may have any shape; otherwise throws an Error that names it. */
function entryOf(answer: unknown, name: string): unknown {
  if (typeof answer === 'object' && answer !== null && Object.hasOwn(answer, name))
    return (answer as Readonly<Record<string, unknown>>)[name]
  throw new Error(`its answer has no ${name}`)
}

function listIn(answer: unknown, name: string): readonly unknown[] {
  const list = entryOf(answer, name)
  if (Array.isArray(list)) return list
  throw new Error(`its answer has a ${name} that is no list`)
}

function textIn(answer: unknown, name: string): string {
  const text = entryOf(answer, name)
  if (typeof text === 'string') return text
  throw new Error(`its answer has a ${name} that is no text`)
}

/** @param digits how many a hash has */
function hashIn(answer: unknown, name: string, digits: number): string {
  return hashOf(textIn(answer, name), name, digits)
}

const hashesIn = (answer: unknown, name: string, digits: number): readonly string[] =>
  listIn(answer, name).map((hash) => hashOf(hash, name, digits))

function heightIn(answer: unknown, name: string): number {
  const height = entryOf(answer, name)
  if (typeof height === 'number' && Number.isSafeInteger(height)) return height
  throw new Error(`its answer has a ${name} that is no number`)
}

/** An entry that may be absent. */
function optionalIn(answer: unknown, name: string): unknown {
  return typeof answer === 'object' && answer !== null && Object.hasOwn(answer, name)
    ? entryOf(answer, name)
    : undefined
}

function hashOf(value: unknown, name: string, digits: number): string {
  if (typeof value === 'string' && value.length === digits && /^[0-9a-f]+$/.test(value)) return value
  throw new Error(`its answer has a hash in ${name} that has not ${digits} hex digits`)
}

/** The compared parts of an unspent output as Kupo lists it. */
interface KupoMatch {
  /** Transaction id, `#`, index. */
  readonly key: string
  /** Bech32. */
  readonly address: string
}

/** Bytes of one match: an output of 16 KiB has no more assets. */
const mostMatchBytes = 1 << 20

/** A node's outputs by Kupo's API, as they arrive. Throws an Error unless it answers with a whole list. */
async function* unspentMatches(
  url: string,
  signal: AbortSignal,
  { stallMs = 30_000, timeoutMs = 10 * stallMs }: ListOptions,
): AsyncGenerator<KupoMatch, void> {
  const stop = new AbortController()
  let leftMs = timeoutMs
  /** Waits for a part of the answer. The reader's time with it does not count. */
  async function within<T>(part: () => Promise<T>): Promise<T> {
    const since = performance.now()
    const why =
      leftMs < stallMs ? `its list takes more than ${timeoutMs} ms` : `it sent nothing in ${stallMs} ms`
    const late = setTimeout(() => stop.abort(new Error(why)), Math.min(leftMs, stallMs))
    return part().finally(() => {
      clearTimeout(late)
      leftMs -= performance.now() - since
    })
  }
  try {
    const response = await within(() =>
      fetch(`${url.replace(/\/+$/, '')}/l2/kupo/matches?unspent`, {
        redirect: 'error',
        signal: AbortSignal.any([signal, stop.signal]),
      }),
    )
    if (response.status !== 200 || response.body === null)
      throw new Error(`GET /l2/kupo/matches: status ${response.status}`)
    const split = createSplitter()
    const pieces = response.body.getReader()
    for (;;) {
      const { done, value } = await within(() => pieces.read())
      if (done) break
      for (const text of split.push(value)) yield matchOf(JSON.parse(text))
    }
    if (!split.isComplete) throw new Error('GET /l2/kupo/matches: the list does not end')
  } finally {
    stop.abort()
  }
}

function matchOf({ transaction_id: id, output_index: index, address }: Record<string, unknown>): KupoMatch {
  if (typeof id === 'string' && /^[0-9a-f]{64}$/.test(id) && Number.isInteger(index))
    return { key: `${id}#${index}`, address: String(address) }
  throw new Error('GET /l2/kupo/matches: the list has something that is no output')
}

/** Cuts an array of objects, which arrives in pieces, into the texts of the objects. */
function createSplitter() {
  const decoder = new TextDecoder()
  let text = ''
  let position = 0
  let start = -1
  let depth = 0
  let isString = false
  let isComplete = false

  /** Reads one character. @returns whether an object ends with it */
  function read(character: string): boolean {
    if (isString) {
      if (character === '\\') position++
      else if (character === '"') isString = false
      return false
    }
    if (character === '"') isString = true
    else if (character === '{' || character === '[') {
      if (++depth === 2) start = position
    } else if (character === '}' || character === ']') {
      if (--depth === 0) isComplete = true
      return depth === 1
    }
    return false
  }

  return {
    get isComplete() {
      return isComplete
    },
    push(piece: Uint8Array): readonly string[] {
      text += decoder.decode(piece, { stream: true })
      const found: string[] = []
      for (; position < text.length; position++) {
        if (!read(text.charAt(position))) continue
        found.push(text.slice(start, position + 1))
        start = -1
      }
      const kept = start < 0 ? text.length : start
      // A skipped character may not have arrived yet.
      text = text.slice(kept)
      position -= kept
      if (start >= 0) start = 0
      if (text.length > mostMatchBytes) throw new Error('GET /l2/kupo/matches: an output is too long')
      return found
    },
  }
}
