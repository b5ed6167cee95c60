import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { archiveOfBlocks } from '@ratatosk/archivist'
import { openStore } from '@ratatosk/store'
import { SourceChain } from '@ratatosk/test-kit'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rebuildUtxos } from './rebuild-utxos.js'
import { follow } from './test/following.js'
import { serve } from './test/serve.js'

async function commit(chain: SourceChain, blocks: number, transactions = 3): Promise<void> {
  for (let n = 0; n < blocks; n++) await chain.commit(transactions)
}

const hashes = (blocks: readonly { readonly headerHash: Uint8Array }[]) =>
  blocks.map(({ headerHash }) => Buffer.from(headerHash).toString('hex'))

describe('a block that layer 1 has removed', () => {
  it('is removed from the archive with all later blocks, and new blocks replace them', async () => {
    const chain = new SourceChain()
    await commit(chain, 6)
    chain.merge(2)
    const { follower, archive, log } = await follow(chain, [await serve(archiveOfBlocks(chain))])
    await follower.synced()
    const [gone] = chain.blocks.slice(-3)
    chain.remove(3)
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
    expect(await archive.byHash(gone!.headerHash)).toBeUndefined()
    expect(follower.status()).toMatchObject({ height: 3n, target: 3n })
    expect(log.lines).toContainEqual(
      expect.objectContaining({ from: 4, to: 6, message: 'Removed blocks that layer 1 no longer has' }),
    )
    await commit(chain, 4, 5)
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
  })

  it('may be replaced before the follower reads layer 1 again', async () => {
    const chain = new SourceChain()
    await commit(chain, 5)
    const { follower, archive } = await follow(chain, [await serve(archiveOfBlocks(chain))])
    await follower.synced()
    chain.remove(4)
    await commit(chain, 6)
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
    chain.remove(7)
    await follower.synced()
    expect(await archive.tip()).toBeUndefined()
    await commit(chain, 1)
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
  })

  it('may be older than the states that the trie keeps', async () => {
    const chain = new SourceChain(4)
    await commit(chain, 80, 1)
    const { follower, archive, log } = await follow(chain, [await serve(archiveOfBlocks(chain))])
    await follower.synced()
    chain.remove(75)
    await commit(chain, 3)
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
    expect(log.lines).toContainEqual(
      expect.objectContaining({
        height: 5,
        message: 'Rebuilding the unspent outputs from the archived bodies',
      }),
    )
  })

  it('remains archived if it was merged', async () => {
    const chain = new SourceChain()
    await commit(chain, 4)
    chain.merge(3)
    const { follower, archive, log } = await follow(chain, [await serve(archiveOfBlocks(chain))])
    await follower.synced()
    const before = hashes(await archive.range(1n, 99n))
    const merged = chain.blocks.slice(1, 3)
    chain.remove(3)
    await commit(chain, 1)
    follower.synced().catch(() => undefined)
    await log.line(({ message }) => message.startsWith('Layer 1 lacks block 2'))
    expect(hashes(await archive.range(1n, 99n))).toEqual(before)
    // A provider that lags behind and recovers.
    chain.remove(1)
    for (const block of merged) block.state = 'merged'
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(before.slice(0, 3))
    expect(follower.status().trouble).toBeUndefined()
  })
})

describe('an invalid block', () => {
  it('is not archived, delays no peer, and the follower continues after its removal', async () => {
    const chain = new SourceChain()
    await commit(chain, 3)
    const peer = await serve(archiveOfBlocks(chain))
    const { follower, archive, log } = await follow(chain, [peer])
    await follower.synced()
    const wrong = await chain.commit(2, { utxosRoot: new Uint8Array(32).fill(1) })
    await commit(chain, 1)
    follower.synced().catch(() => undefined)
    const line = await log.line(({ level }) => level === 'error')
    const reason = 'The block does not lead to the utxos_root of its header'
    const headerHash = Buffer.from(wrong.headerHash).toString('hex')
    expect(line).toMatchObject({ message: 'Invalid block', height: 4, headerHash, reason })
    expect(log.backedOff).toEqual([])
    expect((await archive.tip())?.height).toBe(3n)
    expect(follower.status()).toMatchObject({
      height: 3n,
      target: 5n,
      trouble: `Block 4 (${headerHash}) is invalid: ${reason}`,
      invalid: { height: 4n, headerHash: wrong.headerHash, reason },
      invalidBlocks: 1,
    })
    chain.remove(2)
    await commit(chain, 2)
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
    expect(follower.status()).toEqual({
      height: 5n,
      target: 5n,
      syncedAt: expect.any(Date),
      invalidBlocks: 1,
    })
  })

  it('may have a deposits root other than the empty one', async () => {
    const chain = new SourceChain()
    await chain.commit(1, { depositsRoot: new Uint8Array(32).fill(1) })
    const { follower, log } = await follow(chain, [await serve(archiveOfBlocks(chain))])
    follower.synced().catch(() => undefined)
    expect((await log.line(({ level }) => level === 'error')).reason).toMatch(/deposits/)
    expect(log.backedOff).toEqual([])
  })
})

describe('a follower', () => {
  it('reports that its genesis outputs are not those of the chain', async () => {
    const chain = new SourceChain()
    await commit(chain, 1)
    const { follower, log } = await follow(chain, [await serve(archiveOfBlocks(chain))], {
      genesis: chain.genesis.slice(1),
    })
    follower.synced().catch(() => undefined)
    const { message } = await log.line(({ level }) => level === 'error')
    expect(message).toMatch(/does not begin with the genesis outputs that were given/)
  })

  it('retries while layer 1 is unavailable or the state queue is broken', async () => {
    const chain = new SourceChain()
    await commit(chain, 2)
    let shown: () => ReturnType<SourceChain['read']> = () =>
      Promise.reject(new Error('layer 1 is unavailable'))
    const { follower, archive, log } = await follow(chain, [await serve(archiveOfBlocks(chain))], {
      chain: { read: () => shown() },
      pollMs: 20,
    })
    const synced = follower.synced()
    await log.line(({ message }) => message === 'layer 1 is unavailable')
    shown = async () => {
      const { confirmed, blocks } = await chain.read()
      return { confirmed, blocks: blocks.slice(1) }
    }
    await log.line(({ message }) => message === 'The headers of the state queue do not follow each other')
    expect(await archive.tip()).toBeUndefined()
    shown = () => chain.read()
    await synced
    expect((await archive.tip())?.height).toBe(2n)
  })

  it('resumes after a restart with its trie in a folder, in memory, or deleted', async () => {
    const chain = new SourceChain()
    const trieDir = await mkdtemp(join(tmpdir(), 'ratatosk-archivist-'))
    onTestFinished(() => rm(trieDir, { recursive: true, force: true }))
    const peer = await serve(archiveOfBlocks(chain))
    const { archive } = await openTestStore(openStore)
    const builds: number[] = []
    for (const options of [{ trieDir }, { trieDir }, {}, { trieDir: join(trieDir, 'other') }, { trieDir }]) {
      await commit(chain, 3)
      const { follower, log } = await follow(chain, [peer], { archive, ...options })
      await follower.synced()
      await follower.close()
      expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
      builds.push(log.lines.filter(({ message }) => message.startsWith('Rebuilding the unspent')).length)
    }
    // The first folder is behind the archive when it is opened for the last time.
    expect(builds).toEqual([0, 0, 1, 1, 1])
    const utxos = await rebuildUtxos({ archive, genesis: chain.genesis, height: 15n })
    expect([...utxos.keys()].sort()).toEqual([...chain.utxos.keys()].sort())
  })

  it('resumes after the archive fails to store a block that the trie has', async () => {
    const chain = new SourceChain()
    await commit(chain, 5)
    const { archive } = await openTestStore(openStore)
    let failures = 2
    const failing: typeof archive = {
      ...archive,
      put: async (blocks) => {
        if (failures-- > 0) throw new Error('the disk is full')
        return archive.put(blocks)
      },
    }
    const { follower, log } = await follow(chain, [await serve(archiveOfBlocks(chain))], {
      archive: failing,
      pollMs: 20,
    })
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
    expect(log.lines.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual([
      'the disk is full',
    ])
  })

  it('ends running requests when it is closed', async () => {
    const chain = new SourceChain()
    await commit(chain, 3)
    const silent = await serve({
      ...archiveOfBlocks(chain),
      body: async function* () {
        await new Promise(() => undefined)
      },
    })
    const { follower, archive } = await follow(chain, [silent])
    const closed = /The follower is closed/
    const waiting = expect(follower.synced()).rejects.toThrow(closed)
    await follower.close()
    await waiting
    await follower.close()
    await expect(follower.synced()).rejects.toThrow(closed)
    expect(await archive.tip()).toBeUndefined()
  })
})
