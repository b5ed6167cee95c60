import { CborReader, fromHex } from '@ratatosk/cbor'
import { addressOfOutput } from '../grammar/output.js'
import { readOutref } from '../transaction.js'
import type { HeldOutput, NodeSource } from '../types.js'
import { addressBytes, addressText, isOfKey } from './addresses.js'
import { unspentMatches } from './kupo-matches.js'
import { isNotFound, type NodeClient } from './node-client.js'

export { acceptedBy } from './accepted.js'
export type { NodeClient } from './node-client.js'

const concurrency = 8

/**
 * What a node shows of its ledger, over HTTP. Its outputs need a node of role `all` that serves `/l2`.
 *
 * @param client with room for the outputs of an address in one answer
 * @param url base of the node
 * @example
 * const client = createClient(url, { maxAnswerBytes: 256 * 1024 * 1024 })
 * await audit({ layer1, archivist, genesis, node: nodeSource(client, url), accepted: acceptedBy(client) })
 */
export function nodeSource(client: NodeClient, url: string): NodeSource {
  return {
    queue: async (signal) => (await client.getStateQueue({ signal })).headers,
    transactionsOf: async (header_hash, signal) =>
      (await client.listBlockTransactions({ header_hash }, { signal })).hashes,
    async placeOf(tx_hash, signal) {
      const { status, block } = await client.getTransactionStatus({ tx_hash }, { signal })
      return { status, ...(block && { block }) }
    },
    transaction: (tx_hash, signal) =>
      unlessNotFound(async () => fromHex((await client.getTransaction({ tx_hash }, { signal })).tx)),
    spenderOf: (ref, signal) =>
      unlessNotFound(async () => (await client.getOutput({ ref }, { signal })).output.spentBy?.txHash),
    unspentOutputs: (derived, signal) => unspentOutputs({ client, url, signal }, derived),
  }
}

/** Undefined for what a node does not have. What it does not serve is no answer. */
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
}

/**
 * The outputs of each address from the ledger of the node. Its index lists all addresses, and the outputs of
 * scripts, which the ledger does not serve by address.
 */
async function* unspentOutputs(
  { client, url, signal }: Place,
  derived: Iterable<Uint8Array>,
): AsyncGenerator<HeldOutput, void> {
  const addresses = new Set<string>()
  for (const output of derived) {
    const address = addressOfOutput(output)
    if (isOfKey(address)) addresses.add(addressText(address))
  }
  for await (const { key, address } of unspentMatches(url, signal)) {
    if (isOfKey(addressBytes(address))) addresses.add(address)
    else yield { key }
  }
  const asked = [...addresses]
  for (let first = 0; first < asked.length; first += concurrency) {
    const answers = await Promise.all(
      asked.slice(first, first + concurrency).map((address) => client.listUtxos({ address }, { signal })),
    )
    for (const { utxos } of answers)
      for (const { outref, value } of utxos)
        yield { key: readOutref(new CborReader(fromHex(outref))).key, output: fromHex(value) }
  }
}
