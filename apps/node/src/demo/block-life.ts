import { setTimeout as sleep } from 'node:timers/promises'
import type { NodeClient } from './node-client.js'
import type { Story } from './story.js'

/** Generous, because a loaded machine is slow. */
const patienceMs = 120_000
/** Each request makes the node draw the state queue in its log. */
const lookMs = 2000
const wordMs = 10_000

/** Follows transactions from the mempool through a block into the confirmed state. */
export async function tellBlockLife(
  story: Story,
  client: NodeClient,
  address: string,
  hashes: readonly string[],
): Promise<void> {
  story.step('GET /stateQueue: valid transactions go into a block, and its header is committed to layer 1')
  const history = await client.history(address)
  const blocks = await eventually('the commitment', () => blocksOf(client, hashes))
  for (const [header, transactions] of blocks) {
    story.say(`block ${header}`)
    story.say(`GET /block lists ${transactions.length} of its transactions, ours among them`)
  }

  story.step('The maturity window, by default 30 s on the devnet, in which anyone can check the block')
  let said = performance.now()
  await eventually('the merge', async () => {
    if (performance.now() - said > wordMs) {
      said = performance.now()
      story.say('… still in the state queue')
    }
    const headers = await client.stateQueue()
    return headers.some((header) => blocks.has(header)) ? undefined : true
  })
  story.say('The block is merged into the confirmed state and no longer in the state queue.')
  story.say('During the window, a fraud proof or the administrator can remove an invalid block.')

  story.step('The merge keeps every transaction')
  for (const hash of hashes) {
    if ((await client.transaction(hash)) === undefined) throw new Error(`GET /tx no longer finds ${hash}.`)
  }
  story.say('GET /tx still finds every transaction,')
  for (const [header, transactions] of blocks) {
    const now = await client.block(header)
    if (now.join() !== transactions.join()) throw new Error(`GET /block changed for ${header}.`)
  }
  story.say('GET /block still lists them,')
  if ((await client.history(address)).join() !== history.join()) throw new Error('GET /txs changed.')
  story.say('and GET /txs is unchanged.')
}

/** The blocks that hold the transactions, once all of them are in one. */
async function blocksOf(
  client: NodeClient,
  hashes: readonly string[],
): Promise<Map<string, readonly string[]> | undefined> {
  const found = new Map<string, readonly string[]>()
  const missing = new Set(hashes)
  for (const header of await client.stateQueue()) {
    const transactions = await client.block(header)
    if (!transactions.some((hash) => missing.has(hash))) continue
    found.set(header, transactions)
    for (const hash of transactions) missing.delete(hash)
  }
  return missing.size === 0 ? found : undefined
}

async function eventually<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const start = performance.now()
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() - start > patienceMs) {
      throw new Error(`After ${patienceMs / 1000} s ${what} has not happened; see the node's log.`)
    }
    await sleep(lookMs)
  }
}
