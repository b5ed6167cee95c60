import { CborReader, fromHex } from '@ratatosk/cbor'
import { bech32 } from 'bech32'
import { addressOfOutput } from '../grammar/output.js'
import { readOutref } from '../transaction.js'
import type { HeldOutput, NodePlace, NodeSource } from '../types.js'
import { hashesIn, hashIn, heightIn, listIn, optionalIn, textIn } from './answers.js'
import { type ListOptions, unspentMatches } from './kupo-matches.js'
import { isNotFound, type NodeClient } from './node-client.js'

export { acceptedBy } from './accepted.js'
export type { ListOptions } from './kupo-matches.js'
export type { NodeClient } from './node-client.js'

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
