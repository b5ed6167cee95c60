import type { NodeSource } from '@ratatosk/audit'
import type { Client } from '@ratatosk/client'

/** Milliseconds without a further event after which everything that a node has accepted is known. */
const silenceMs = 2000

/** What a node shows of its ledger. */
export function nodeSource(client: Client): NodeSource {
  return {
    queue: async (signal) => (await client.getStateQueue({ signal })).headers,
    transactionsOf: async (header_hash, signal) =>
      (await client.listBlockTransactions({ header_hash }, { signal })).hashes,
    async placeOf(tx_hash, signal) {
      const { status, block } = await client.getTransactionStatus({ tx_hash }, { signal })
      return { status, ...(block && { block }) }
    },
  }
}

/** Ids of the transactions that a node says to have accepted, from its events. */
export async function* acceptedBy(client: Client): AsyncGenerator<string, void> {
  const stop = new AbortController()
  const expectMore = () => setTimeout(() => stop.abort(), silenceMs)
  let silence = expectMore()
  try {
    const parameters = { type: 'accepted', after: '0.0.0' } as const
    for await (const { type, data } of client.streamEvents(parameters, { signal: stop.signal })) {
      // The reader takes its time.
      clearTimeout(silence)
      if (type === 'accepted') yield data.txHash
      silence = expectMore()
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
  } finally {
    clearTimeout(silence)
    stop.abort()
  }
}
