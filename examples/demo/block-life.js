import { setTimeout as sleep } from 'node:timers/promises'
import { say, step } from './story.js'

/** Generous, because a loaded machine is slow. */
const timeoutMs = 120_000
const reportEveryMs = 10_000

/** Follows transactions from the mempool through a block into the confirmed state. */
export async function showBlockLife(client, { addressText: address }, hashes) {
  step('GET /stateQueue: valid transactions go into a block, and its header is committed to layer 1')
  const { txs: history } = await client.listTransactions({ address })
  const blocks = new Map()
  for (const hash of hashes) {
    const { block } = await client.awaitTx(hash, { finality: 'committed', timeoutMs })
    blocks.set(block.headerHash, undefined)
  }
  for (const header of blocks.keys()) {
    const { hashes: listed } = await client.listBlockTransactions({ header_hash: header })
    blocks.set(header, listed)
    say(`block ${header}`)
    say(`GET /block lists ${listed.length} of its transactions, ours among them`)
  }

  step('The maturity window, by default 30 s on the devnet')
  say('While it lasts, anyone can check the block, and remove it with a fraud proof if it is invalid.')
  const merged = Promise.all(hashes.map((hash) => client.awaitTx(hash, { finality: 'merged', timeoutMs })))
  const report = setInterval(() => say('… still in the state queue'), reportEveryMs)
  try {
    await merged
  } finally {
    clearInterval(report)
  }
  await leftQueue(client, blocks)
  say('The block is merged into the confirmed state and no longer in the state queue.')

  step('The merge keeps every transaction')
  for (const hash of hashes) await client.getTransaction({ tx_hash: hash })
  say('GET /tx still finds every transaction,')
  for (const [header, listed] of blocks) {
    const { hashes: now } = await client.listBlockTransactions({ header_hash: header })
    if (now.join() !== listed.join()) throw new Error(`GET /block changed for ${header}.`)
  }
  say('GET /block still lists them,')
  const { txs } = await client.listTransactions({ address })
  if (txs.join() !== history.join()) throw new Error('GET /txs changed.')
  say('and GET /txs is unchanged.')
}

async function leftQueue(client, blocks) {
  const deadline = performance.now() + timeoutMs
  while ((await client.getStateQueue()).headers.some((header) => blocks.has(header))) {
    if (performance.now() > deadline) throw new Error('GET /stateQueue still has the merged block.')
    await sleep(2000)
  }
}
