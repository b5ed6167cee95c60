import { setTimeout as sleep } from 'node:timers/promises'
import type { NodeClient } from './node-client.js'
import type { Story } from './story.js'

/** Beside a full suite of tests everything takes its time. */
const patienceMs = 120_000
/** The node draws the state queue into its log at each look. */
const lookMs = 2000
const wordMs = 10_000

/** Follows transactions from the mempool through a block into the confirmed state. */
export async function tellBlockLife(
  story: Story,
  client: NodeClient,
  address: string,
  hashes: readonly string[],
): Promise<void> {
  story.step('GET /stateQueue: what is valid is put into a block, and its header is committed to layer 1')
  const history = await client.history(address)
  const blocks = await eventually('the block', () => blocksOf(client, hashes))
  for (const [header, transactions] of blocks) {
    story.say(`block ${header}`)
    story.say(`GET /block lists ${transactions.length} of its transactions, ours among them`)
  }

  story.step('The block matures: 30 s on the devnet, in which a fraud proof could remove it')
  let said = performance.now()
  await eventually('the merge', async () => {
    if (performance.now() - said > wordMs) {
      said = performance.now()
      story.say('… it is still in the state queue')
    }
    const headers = await client.stateQueue()
    return headers.some((header) => blocks.has(header)) ? undefined : true
  })
  story.say('It is merged into the confirmed state, and gone from the state queue.')

  story.step('Nothing is lost by it')
  for (const hash of hashes) {
    if ((await client.transaction(hash)) === undefined)
      throw new Error(`GET /tx does not find ${hash} any more.`)
  }
  story.say('GET /tx still finds every transaction,')
  for (const [header, transactions] of blocks) {
    const now = await client.block(header)
    if (now.join() !== transactions.join()) throw new Error(`GET /block answers otherwise for ${header}.`)
  }
  story.say('GET /block still lists them,')
  if ((await client.history(address)).join() !== history.join())
    throw new Error('GET /txs answers otherwise.')
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
      throw new Error(`After ${patienceMs / 1000} s there is no sign of ${what}; the node's log says why.`)
    }
    await sleep(lookMs)
  }
}
