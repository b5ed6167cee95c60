import { archiveOfBlocks } from '@ratatosk/archivist'
import type { Archive } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { SourceChain } from '@ratatosk/test-kit'
import { expect, it } from 'vitest'
import { follow } from './test/following.js'
import { serve, serveRaw } from './test/serve.js'
import type { FollowerOptions, InvalidBlock, UnavailableBlock } from './types.js'

/** An archivist without the bodies of some blocks, until they are given. */
async function withholding(chain: SourceChain, withheld: ReadonlySet<number>): Promise<string> {
  const whole = archiveOfBlocks(chain)
  const byHash: Archive['byHash'] = async (hash) => {
    const block = await whole.byHash(hash)
    return block && withheld.has(Number(block.height)) ? undefined : block
  }
  return serve({ ...whole, byHash })
}

/** The answers to a follower, from what is known by then. */
function openSource() {
  const asked: UnavailableBlock[] = []
  const shown = new Map<string, readonly Uint8Array[]>()
  const unavailable: NonNullable<FollowerOptions['unavailable']> = async (block) => {
    asked.push(block)
    return shown.get(toHex(block.headerHash))
  }
  const heights = () => [...new Set(asked.map(({ height }) => Number(height)))].sort()
  return { asked, shown, unavailable, heights }
}

const until = async (check: () => boolean) => {
  while (!check()) await new Promise((resolve) => setTimeout(resolve, 5))
}

it('archives a body that the operator has shown, and asks for those behind it meanwhile', async () => {
  const chain = new SourceChain()
  for (let n = 0; n < 8; n++) await chain.commit(3)
  const withheld = new Set([2, 4, 8])
  const { asked, shown, unavailable, heights } = openSource()
  const peers = [await withholding(chain, withheld)]
  const { follower, archive } = await follow(chain, peers, { unavailable, pollMs: 10, concurrency: 1 })
  await until(() => heights().length === withheld.size)
  expect(heights()).toEqual([...withheld])
  const [second] = asked.filter(({ height }) => height === 2n)
  expect(second).toEqual({
    headerHash: chain.blocks[1]!.headerHash,
    height: 2n,
    header: chain.blocks[1]!.fields,
  })
  expect(follower.status().trouble).toBe('No peer has the body of block 2')
  for (const { headerHash, cbors } of chain.blocks) shown.set(toHex(headerHash), cbors)
  await follower.synced()
  expect((await archive.range(1n, 9n)).map(({ headerHash }) => headerHash)).toEqual(
    chain.blocks.map(({ headerHash }) => headerHash),
  )
})

it('goes on asking about the first block while a body behind it comes slowly', async () => {
  const chain = new SourceChain()
  for (let n = 0; n < 2; n++) await chain.commit(3)
  const whole = await withholding(chain, new Set([1]))
  const slow = toHex(chain.blocks[1]!.headerHash)
  const peer = await serveRaw(async ({ url = '' }, response) => {
    if (!url.includes(slow)) {
      const answer = await fetch(`${whole.replace('/archivist', '')}${url}`)
      const type = answer.headers.get('content-type') ?? ''
      response.writeHead(answer.status, { 'content-type': type })
      response.end(Buffer.from(await answer.arrayBuffer()))
      return
    }
    // Many transactions, each enough not to stall.
    response.writeHead(200, { 'content-type': 'application/cbor' })
    response.write(Buffer.from('a364626f647985993fff', 'hex'))
    const transaction = Buffer.concat([Buffer.from('594000', 'hex'), Buffer.alloc(16_384)])
    const drip = setInterval(() => response.write(transaction), 500)
    response.on('close', () => clearInterval(drip))
  })
  const { asked, unavailable } = openSource()
  await follow(chain, [`${peer}/archivist`], { unavailable, pollMs: 10, concurrency: 1 })
  await until(() => asked.filter(({ height }) => height === 1n).length >= 3)
  expect(asked.every(({ height }) => height === 1n)).toBe(true)
}, 60_000)

it('takes chunks that are not those of the header for the fault of the operator', async () => {
  const chain = new SourceChain()
  await chain.commit(1)
  const block = await chain.commit(3)
  const { shown, unavailable } = openSource()
  shown.set(toHex(block.headerHash), block.cbors.slice(1))
  const invalid: InvalidBlock[] = []
  const watch: FollowerOptions['watch'] = async (given) => {
    invalid.push(given)
  }
  const peers = [await withholding(chain, new Set([2]))]
  const { log } = await follow(chain, peers, { unavailable, watch, pollMs: 10 })
  await until(() => invalid.length > 0)
  expect(invalid[0]!.error).toMatchObject({
    code: 'BLOCK_INVALID',
    message: expect.stringMatching(/^The chunks that the operator has shown are not those of the block: /),
  })
  expect(log.backedOff).toEqual([])
})

it('keeps the outputs after an invalid block for as long as it is watched', async () => {
  const chain = new SourceChain()
  await chain.commit(2)
  const block = await chain.commit(3, { utxosRoot: new Uint8Array(32).fill(0xab) })
  const next = await chain.commit(0)
  next.state = 'removed'
  const truth = next.fields.prevUtxosRoot
  const invalid: InvalidBlock[] = []
  const watch: FollowerOptions['watch'] = (given, signal) => {
    invalid.push(given)
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined)))
  }
  const peers = [await serve(archiveOfBlocks(chain))]
  const { follower } = await follow(chain, peers, { watch, pollMs: 5 })
  await until(() => invalid.length > 0)
  const check = () => {
    const { before, afterTransactions, outputBefore } = invalid[0]!
    expect(equalBytes(before.root, block.fields.prevUtxosRoot)).toBe(true)
    expect(toHex(afterTransactions!.root)).toBe(toHex(truth))
    expect(afterTransactions!.nodeAt(new Uint8Array(32), 0)).toBeDefined()
    expect(before.nodeAt(new Uint8Array(32), 0)).toBeDefined()
    expect(outputBefore(new Uint8Array(36))).toBeUndefined()
  }
  check()
  await new Promise((resolve) => setTimeout(resolve, 100))
  check()
  // The block is gone: the follower goes on from the state before.
  block.state = 'removed'
  await follower.synced()
  expect(follower.status().invalid).toBeUndefined()
})
