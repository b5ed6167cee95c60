import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { archiveOfBlocks } from '@ratatosk/archivist'
import { toHex } from '@ratatosk/cbor'
import { encodeOutputReference } from '@ratatosk/ledger'
import { SourceChain, signed } from '@ratatosk/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { openEvidence } from './evidence.js'
import { follow } from './test/following.js'
import { serve, serveRaw } from './test/serve.js'
import type { FollowerOptions, InvalidBlock } from './types.js'

type Watched = InvalidBlock & { readonly signal: AbortSignal; end(result?: 'unprovable'): void }

/** A watch that runs until the test ends it. */
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

it('judges what is behind an unprovable block, archives none of it, and looks again later', async () => {
  const { chain, wrong } = await chainWithTheft()
  const good = await chain.commit(2)
  const [, { key, reference }] = chain.coins as [unknown, SourceChain['coins'][number]]
  const unsigned = { ...key, sign: () => new Uint8Array(64) }
  const second = await chain.commitAny([
    signed(unsigned, { inputs: [reference], outputs: [5_000_000n] }).cbor,
  ])
  const { calls, watch, begun } = openWatch()
  const peers = [await serve(archiveOfBlocks(chain))]
  const options = { watch, pollMs: 10, watchAgainMs: 300 }
  const { follower, archive, log } = await follow(chain, peers, options)
  const unprovable = await begun(1)
  expect(unprovable.headerHash).toEqual(wrong.headerHash)
  unprovable.end('unprovable')
  const theft = await begun(2)
  expect(theft).toMatchObject({ headerHash: second.headerHash, height: 4n, error: { position: 0 } })
  expect(theft.before.root).toEqual(good.fields.utxosRoot)
  expect(theft.outputBefore(encodeOutputReference(reference))).toBeDefined()
  const isInvalid = () => follower.status().invalid?.headerHash
  expect(isInvalid()).toEqual(wrong.headerHash)
  expect((await archive.tip())?.height).toBe(1n)
  // While the theft is in work, the first block is not given again.
  await pause(500)
  expect(calls).toHaveLength(2)
  expect(theft.before.root).toEqual(good.fields.utxosRoot)

  chain.remove(1)
  while (!theft.signal.aborted) await pause(5)
  theft.end()
  const again = await begun(3)
  expect(again.headerHash).toEqual(wrong.headerHash)
  expect(again.before.root).toEqual(wrong.fields.prevUtxosRoot)
  expect(isInvalid()).toEqual(wrong.headerHash)
  expect(follower.status().trouble).toMatch(/^Block 2 /)
  expect((await archive.tip())?.height).toBe(1n)

  // Once it is gone, the blocks in its place are archived.
  chain.remove(2)
  await chain.commit(2)
  while (!again.signal.aborted) await pause(5)
  again.end()
  await follower.synced()
  expect((await archive.tip())?.headerHash).toEqual(chain.tip!.headerHash)
  expect(follower.status().invalid).toBeUndefined()
  const found = log.lines.filter(({ message }) => message === 'Invalid block')
  expect(found.map(({ height }) => height)).toEqual([2, 4])
})

it('stops at an unprovable block that does not lead to its root', async () => {
  const chain = new SourceChain()
  await chain.commit(1, { utxosRoot: new Uint8Array(32).fill(7) })
  const { calls, watch, begun } = openWatch()
  const peers = [await serve(archiveOfBlocks(chain))]
  const { follower, archive } = await follow(chain, peers, { watch, pollMs: 10, watchAgainMs: 200 })
  const given = await begun(1)
  given.end('unprovable')
  const again = await begun(2)
  expect(again.headerHash).toEqual(given.headerHash)
  expect(follower.status().invalid?.height).toBe(1n)
  expect(await archive.tip()).toBeUndefined()
  expect(calls).toHaveLength(2)
  again.end('unprovable')
})
