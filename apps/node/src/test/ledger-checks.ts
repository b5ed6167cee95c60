import type { Rejection, Store } from '@ratatosk/store'
import type { KeepAliveClient } from './keep-alive-client.js'
import type { MidgardTransaction } from './midgard.js'

/** Those of the given hashes for which `/tx` does not return the submitted CBOR. */
export async function missing(
  client: KeepAliveClient,
  transactions: readonly MidgardTransaction[],
): Promise<string[]> {
  const answers = await Promise.all(transactions.map(({ txId }) => client.get(`/tx?tx_hash=${txId}`)))
  return transactions
    .filter(({ cborHex }, index) => answers[index]?.body !== `{"tx":"${cborHex}"}`)
    .map(({ txId }) => txId)
}

export async function wholeHistory(
  client: KeepAliveClient,
  address: string,
  limit: number,
): Promise<string[]> {
  const history: string[] = []
  for (;;) {
    const { body } = await client.get(`/txs?address=${address}&limit=${limit}&offset=${history.length}`)
    const { txs, hasMore }: { txs: string[]; hasMore: boolean } = JSON.parse(body)
    history.push(...txs)
    if (!hasMore) return history
  }
}

export async function allRejections({ rejections }: Store): Promise<Rejection[]> {
  const all: Rejection[] = []
  for (;;) {
    const last = all.at(-1)
    const page = await rejections.list({ limit: 1000, ...(last && { before: last.sequence }) })
    all.push(...page)
    if (page.length < 1000) return all
  }
}
