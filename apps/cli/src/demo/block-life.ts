import type { Client } from '@ratatosk/client'
import { CommandError } from '../frame/errors.js'
import type { Story } from './story.js'

/** Generous, because a loaded machine is slow. */
const timeoutMs = 120_000
const reportEveryMs = 10_000

/**
 * Follows an address's transactions into the confirmed state; returns their blocks' hashes.
 * @throws CommandError if the merge changes what the node answers
 */
export async function showBlockLife(
  client: Client,
  address: string,
  hashes: readonly string[],
  { say, step }: Story,
): Promise<readonly string[]> {
  step('GET /stateQueue: valid transactions go into a block, and its header is committed to layer 1')
  const { txs: history } = await client.listTransactions({ address })
  const blocks = new Map<string, readonly string[]>()
  for (const hash of hashes) {
    const { block } = await client.awaitTx(hash, { finality: 'committed', timeoutMs })
    if (block === undefined || blocks.has(block.headerHash)) continue
    const listed = (await client.listBlockTransactions({ header_hash: block.headerHash })).hashes
    blocks.set(block.headerHash, listed)
    say(`block ${block.headerHash}`)
    say(`GET /block lists ${listed.length} of its transactions, ours among them`)
  }

  step('The maturity window, by default 30 s on the devnet')
  say('While it lasts, anyone can check the block, and remove it with a fraud proof if it is invalid.')
  const report = setInterval(() => say('… still in the state queue'), reportEveryMs)
  try {
    await Promise.all(hashes.map((hash) => client.awaitTx(hash, { finality: 'merged', timeoutMs })))
  } finally {
    clearInterval(report)
  }
  say('The block is merged into the confirmed state.')

  step('The merge keeps every transaction')
  for (const hash of hashes) await client.getTransaction({ tx_hash: hash })
  say('GET /tx still finds every transaction,')
  for (const [header, listed] of blocks) {
    const { hashes: now } = await client.listBlockTransactions({ header_hash: header })
    if (now.join() !== listed.join()) throw new CommandError('CLI_DEMO', `GET /block changed for ${header}.`)
  }
  say('GET /block still lists them,')
  const { txs } = await client.listTransactions({ address })
  if (txs.join() !== history.join()) throw new CommandError('CLI_DEMO', 'GET /txs changed.')
  say('and GET /txs is unchanged.')
  return [...blocks.keys()]
}
