import { createClient } from '@ratatosk/client'
import { testWallets } from '@ratatosk/devnet'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { type RunningNode, readSettings, startNode } from '@ratatosk/node'
import { devnetFunds, openBuilder } from '../layer2/layer2.js'

type Place = Readonly<Record<string, string>>

/** Runs `work` with a node in this place. */
export async function withNode<T>(
  place: Place,
  work: (url: string, store: RunningNode['store']) => Promise<T>,
): Promise<T> {
  const manual = {
    AUTO_COMMIT: 'false',
    AUTO_INIT: 'false',
    SERVE_DOCS: 'false',
    // The machine is overloaded while it runs many tests.
    MAX_EVENT_LOOP_DELAY_MS: '0',
    PORT: '0',
    LOG_LEVEL: 'silent',
  }
  const node = await startNode(readSettings({ ...manual, ...place }))
  try {
    return await work(node.url, node.store)
  } finally {
    await node.close()
  }
}

/** An account without funds. */
export const receiver = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 99 }).addressText

/** Pays so many times, each from another output; returns the hashes of the accepted transactions. */
export async function pay(url: string, count: number): Promise<readonly string[]> {
  const client = createClient(url)
  const builder = await openBuilder(client)
  const hashes: string[] = []
  for (let n = 0; n < count; n++) {
    const funds = await devnetFunds(client, 10_000_000n)
    if (funds === undefined) throw new Error('The devnet has no funds')
    const { transaction, txHash } = await builder.pay({ ...funds, to: receiver, lovelace: 2_000_000n })
    await client.submit(transaction)
    await client.awaitTx(txHash)
    hashes.push(txHash)
  }
  return hashes
}
