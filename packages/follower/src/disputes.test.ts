import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { archiveOfBlocks } from '@ratatosk/archivist'
import type { Archive } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { encodeOutputReference } from '@ratatosk/ledger'
import { SourceChain, signed } from '@ratatosk/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { openEvidence } from './evidence.js'
import { follow, serve, serveRaw } from './test/following.js'
import type { FollowerOptions, InvalidBlock, UnavailableBlock } from './types.js'

type Watched = InvalidBlock & { readonly signal: AbortSignal; end(result?: 'unprovable'): void }

function openWatch() {
  const calls: Watched[] = []
  const watch: NonNullable<FollowerOptions['watch']> = (block, signal) =>
    new Promise((resolve) => {
      calls.push({ ...block, signal, end: resolve })
    })
  const begun = async (count: number) => {
    while (calls.length < count) await new Promise((resolve) => setTimeout(resolve, 10))
    return calls[count - 1]!
  }
  return { calls, watch, begun }
}

async function chainWithTheft() {
  const chain = new SourceChain()
  await chain.commit(3)
  const [{ key, reference }] = chain.coins as [SourceChain['coins'][number]]
  const unsigned = { ...key, sign: () => new Uint8Array(64) }
  const theft = signed(unsigned, { inputs: [reference], outputs: [5_000_000n] }).cbor
  const wrong = await chain.commitAny([theft])
  return { chain, theft, wrong, stolen: encodeOutputReference(reference) }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

it('gives an invalid block to a watch, and changes nothing until the watch has ended', async () => {
  const { chain, theft, wrong, stolen } = await chainWithTheft()
  const { calls, watch, begun } = openWatch()
  const { follower, archive } = await follow(chain, [await serve(archiveOfBlocks(chain))], {
    watch,
    pollMs: 10,
  })
  const given = await begun(1)
  expect(given).toMatchObject({
    headerHash: wrong.headerHash,
    height: 2n,
    header: wrong.fields,
    error: { code: 'BLOCK_INVALID', position: 0 },
  })
  expect(given.transactions.map(toHex)).toEqual([toHex(theft)])
  const check = () => {
    expect(given.before.root).toEqual(wrong.fields.prevUtxosRoot)
    expect(given.before.has(stolen)).toBe(true)
    expect(toHex(given.outputBefore(stolen)!)).toMatch(/^a200/)
    expect(given.outputBefore(new Uint8Array(stolen.length).fill(0x58))).toBeUndefined()
  }
  await pause(50)
  expect(calls).toHaveLength(1)
  expect(given.signal.aborted).toBe(false)

  // Layer 1 loses both blocks, and has others.
  chain.remove(2)
  await chain.commit(2)
  while (!given.signal.aborted) await pause(5)
  await pause(50)
  expect((await archive.tip())?.headerHash).not.toEqual(chain.tip!.headerHash)
  check()
  given.end()
  await follower.synced()
  expect((await archive.tip())?.headerHash).toEqual(chain.tip!.headerHash)
  expect(calls).toHaveLength(1)
})

it('gives a block again that layer 1 shows again, and waits for the watch before it closes', async () => {
  const { chain, wrong } = await chainWithTheft()
  const { calls, watch, begun } = openWatch()
  const { follower, log } = await follow(chain, [await serve(archiveOfBlocks(chain))], { watch, pollMs: 10 })
  const first = await begun(1)
  wrong.state = 'removed'
  while (!first.signal.aborted) await pause(5)
  first.end()
  await follower.synced()
  wrong.state = 'committed'
  const second = await begun(2)
  expect(second.headerHash).toEqual(wrong.headerHash)
  expect(log.lines.filter(({ message }) => message === 'Invalid block')).toHaveLength(2)

  let closed = false
  const closing = follower.close().then(() => {
    closed = true
  })
  while (!second.signal.aborted) await pause(5)
  await pause(50)
  expect(closed).toBe(false)
  expect(second.before.root).toEqual(wrong.fields.prevUtxosRoot)
  second.end()
  await closing
  expect(calls).toHaveLength(2)
})

it('finds an invalid block again after a restart, although no peer serves its body any more', async () => {
  const { chain, wrong } = await chainWithTheft()
  const dir = await mkdtemp(join(tmpdir(), 'ratatosk-watch-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  const evidence = openEvidence({ dir, maxBytes: 1_000_000 })
  const honest = await serve(archiveOfBlocks(chain))
  const silent = await serveRaw((_, response) => {
    response.writeHead(404).end()
  })
  const one = openWatch()
  const { follower, archive } = await follow(chain, [honest], { watch: one.watch, evidence, pollMs: 10 })
  const first = await one.begun(1)
  while ((await evidence.byHash(wrong.headerHash)) === undefined) await pause(5)
  first.end()
  await follower.close()

  const two = openWatch()
  await follow(chain, [silent], { watch: two.watch, evidence, archive, pollMs: 10 })
  const again = await two.begun(1)
  expect(again.transactions.map(toHex)).toEqual(first.transactions.map(toHex))
  again.end()
})

it('gives an invalid block once, although its evidence cannot be kept', async () => {
  const { chain } = await chainWithTheft()
  const { calls, watch, begun } = openWatch()
  const keep = async () => {
    throw new Error('No space is left')
  }
  const evidence = { ...openEvidence({ dir: join(tmpdir(), 'absent'), maxBytes: 1 }), keep }
  const peers = [await serve(archiveOfBlocks(chain))]
  const { follower, log } = await follow(chain, peers, { watch, evidence, pollMs: 10 })
  const given = await begun(1)
  await pause(300)
  expect(calls).toHaveLength(1)
  expect(follower.status().invalidBlocks).toBe(1)
  expect(log.lines.map(({ message }) => message)).toContain('The evidence of an invalid block cannot be kept')
  given.end()
})

it('judges what is behind an unprovable block, archives none of it, and needs no body twice', async () => {
  const { chain, wrong } = await chainWithTheft()
  const good = await chain.commit(2)
  const [, { key, reference }] = chain.coins as [unknown, SourceChain['coins'][number]]
  const unsigned = { ...key, sign: () => new Uint8Array(64) }
  const second = await chain.commitAny([
    signed(unsigned, { inputs: [reference], outputs: [5_000_000n] }).cbor,
  ])
  const dir = await mkdtemp(join(tmpdir(), 'ratatosk-watch-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  const evidence = openEvidence({ dir, maxBytes: 1_000_000 })
  const one = openWatch()
  const honest = [await serve(archiveOfBlocks(chain))]
  const options = { evidence, pollMs: 10 }
  const started = await follow(chain, honest, { ...options, watch: one.watch })
  const { archive, log } = started
  const unprovable = await one.begun(1)
  expect(unprovable.headerHash).toEqual(wrong.headerHash)
  unprovable.end('unprovable')
  const theft = await one.begun(2)
  expect(theft).toMatchObject({ headerHash: second.headerHash, height: 4n, error: { position: 0 } })
  expect(theft.before.root).toEqual(good.fields.utxosRoot)
  expect(theft.outputBefore(encodeOutputReference(reference))).toBeDefined()
  await pause(100)
  expect(one.calls).toHaveLength(2)
  expect(started.follower.status()).toMatchObject({
    invalid: { headerHash: wrong.headerHash },
    invalidBlocks: 2,
    height: 1n,
  })
  theft.end()
  await started.follower.close()

  // After a restart, no peer serves a body.
  const silent = await serveRaw((_, response) => {
    response.writeHead(404).end()
  })
  const two = openWatch()
  const { follower } = await follow(chain, [silent], { ...options, archive, watch: two.watch })
  const found = await two.begun(1)
  expect(found.headerHash).toEqual(wrong.headerHash)
  found.end('unprovable')
  const again = await two.begun(2)
  expect(again.headerHash).toEqual(second.headerHash)

  // A provider that shows an older queue costs only the call.
  second.state = 'removed'
  while (!again.signal.aborted) await pause(5)
  again.end()
  await pause(100)
  expect(follower.status().trouble).toMatch(/^Block 2 /)
  expect((await archive.tip())?.height).toBe(1n)
  second.state = 'committed'
  const third = await two.begun(3)
  expect(third.headerHash).toEqual(second.headerHash)
  expect(third.before.root).toEqual(good.fields.utxosRoot)
  third.end('unprovable')
  await pause(100)
  await follower.close()

  // Once the unprovable block is gone, what is in its place is archived.
  chain.remove(3)
  await chain.commit(2)
  const three = openWatch()
  const last = await follow(chain, [await serve(archiveOfBlocks(chain))], {
    ...options,
    archive,
    watch: three.watch,
  })
  await last.follower.synced()
  expect((await archive.tip())?.headerHash).toEqual(chain.tip!.headerHash)
  expect(last.follower.status().invalid).toBeUndefined()
  const invalid = log.lines.filter(({ message }) => message === 'Invalid block')
  expect(invalid.map(({ height }) => height)).toEqual([2, 4])
})

it('goes back to before an unprovable block once it is gone', async () => {
  const { chain } = await chainWithTheft()
  await chain.commit(2)
  const { watch, begun } = openWatch()
  const peers = [await serve(archiveOfBlocks(chain))]
  const { follower, archive, log } = await follow(chain, peers, { watch, pollMs: 10 })
  const given = await begun(1)
  given.end('unprovable')
  await log.line(({ message }) => message.startsWith('Judging the blocks behind'))
  chain.remove(2)
  await follower.synced()
  expect(follower.status()).not.toHaveProperty('trouble')
  await chain.commit(2)
  await follower.synced()
  expect((await archive.tip())?.headerHash).toEqual(chain.tip!.headerHash)
  expect(follower.status()).toMatchObject({ height: 2n, invalidBlocks: 1 })
  expect(follower.status().invalid).toBeUndefined()
})

it('stops at an unprovable block that does not lead to its root', async () => {
  const chain = new SourceChain()
  await chain.commit(1, { utxosRoot: new Uint8Array(32).fill(7) })
  await chain.commit(1)
  const { calls, watch, begun } = openWatch()
  const peers = [await serve(archiveOfBlocks(chain))]
  const { follower, archive } = await follow(chain, peers, { watch, pollMs: 10 })
  const given = await begun(1)
  given.end('unprovable')
  await pause(200)
  expect(follower.status()).toMatchObject({ invalid: { height: 1n }, invalidBlocks: 1 })
  expect(await archive.tip()).toBeUndefined()
  expect(calls).toHaveLength(1)
})

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
