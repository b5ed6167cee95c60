import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { archiveOfBlocks } from '../archive-of-blocks.js'
import { follow } from '../test/following.js'
import { serve } from '../test/serve.js'
import { SourceChain } from '../test/source-chain.js'
import { openTestStore } from '../test/stores.js'
import { rebuildUtxos } from './rebuild-utxos.js'

async function commit(chain: SourceChain, blocks: number, transactions = 3): Promise<void> {
  for (let n = 0; n < blocks; n++) await chain.commit(transactions)
}

const hashes = (blocks: readonly { readonly headerHash: Uint8Array }[]) =>
  blocks.map(({ headerHash }) => Buffer.from(headerHash).toString('hex'))

describe('a block that layer 1 has removed', () => {
  it('is taken out with all after it, and others come in their place', async () => {
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
      expect.objectContaining({ from: 4, to: 6, message: 'Took blocks out that layer 1 has removed' }),
    )
    await commit(chain, 4, 5)
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
  })

  it('may have others in its place when the follower looks', async () => {
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

  it('may lie deeper than the trie remembers', async () => {
    const chain = new SourceChain(4)
    await commit(chain, 80, 1)
    const { follower, archive, log } = await follow(chain, [await serve(archiveOfBlocks(chain))])
    await follower.synced()
    chain.remove(75)
    await commit(chain, 3)
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
    expect(log.lines).toContainEqual(
      expect.objectContaining({ height: 5, message: 'Building the trie of unspent outputs from bodies' }),
    )
  })

  it('stays if it was merged, whatever layer 1 shows', async () => {
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
    await log.line(({ message }) => message.startsWith('Layer 1 shows a history without block 2'))
    expect(hashes(await archive.range(1n, 99n))).toEqual(before)
    // A provider that was behind, and comes back.
    chain.remove(1)
    for (const block of merged) block.state = 'merged'
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(before.slice(0, 3))
    expect(follower.status().trouble).toBeUndefined()
  })
})

describe('a block that breaks the ledger', () => {
  it('is not archived, and nobody is blamed who sends it; with its removal all goes on', async () => {
    const chain = new SourceChain()
    await commit(chain, 3)
    const peer = await serve(archiveOfBlocks(chain))
    const { follower, archive, log } = await follow(chain, [peer])
    await follower.synced()
    const wrong = await chain.commit(2, { utxosRoot: new Uint8Array(32).fill(1) })
    await commit(chain, 1)
    follower.synced().catch(() => undefined)
    const line = await log.line(({ level }) => level === 'error')
    expect(line.message).toBe(
      `Block 4 (${Buffer.from(wrong.headerHash).toString('hex')}) is invalid. It does not lead to the UTxO root of its header`,
    )
    expect(log.dropped).toEqual([])
    expect((await archive.tip())?.height).toBe(3n)
    expect(follower.status()).toMatchObject({ height: 3n, target: 5n, trouble: line.message })
    chain.remove(2)
    await commit(chain, 2)
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
    expect(follower.status()).toEqual({ height: 5n, target: 5n, syncedAt: expect.any(Date) })
  })

  it('may do so by deposits, which there are none of', async () => {
    const chain = new SourceChain()
    await chain.commit(1, { depositsRoot: new Uint8Array(32).fill(1) })
    const { follower, log } = await follow(chain, [await serve(archiveOfBlocks(chain))])
    follower.synced().catch(() => undefined)
    expect((await log.line(({ level }) => level === 'error')).message).toMatch(/deposits/)
    expect(log.dropped).toEqual([])
  })
})

describe('a follower', () => {
  it('says so when its genesis outputs are not those of the chain', async () => {
    const chain = new SourceChain()
    await commit(chain, 1)
    const { follower, log } = await follow(chain, [await serve(archiveOfBlocks(chain))], {
      genesis: chain.genesis.slice(1),
    })
    follower.synced().catch(() => undefined)
    const { message } = await log.line(({ level }) => level === 'error')
    expect(message).toMatch(/does not begin with the genesis outputs that were given/)
  })

  it('waits for layer 1 to come back, and for a queue that is sound', async () => {
    const chain = new SourceChain()
    await commit(chain, 2)
    let shown: () => ReturnType<SourceChain['read']> = () => Promise.reject(new Error('layer 1 is away'))
    const { follower, archive, log } = await follow(chain, [await serve(archiveOfBlocks(chain))], {
      chain: { read: () => shown() },
      pollMs: 20,
    })
    const synced = follower.synced()
    await log.line(({ message }) => message === 'layer 1 is away')
    shown = async () => {
      const { confirmed, blocks } = await chain.read()
      return { confirmed, blocks: blocks.slice(1) }
    }
    await log.line(({ message }) => message === 'The blocks of the state queue are not linked')
    expect(await archive.tip()).toBeUndefined()
    shown = () => chain.read()
    await synced
    expect((await archive.tip())?.height).toBe(2n)
  })

  it('goes on where it was closed, whether its trie is in a folder, in memory, or lost', async () => {
    const chain = new SourceChain()
    const trieDir = await mkdtemp(join(tmpdir(), 'ratatosk-archivist-'))
    onTestFinished(() => rm(trieDir, { recursive: true, force: true }))
    const peer = await serve(archiveOfBlocks(chain))
    const { archive } = await openTestStore()
    const builds: number[] = []
    for (const options of [{ trieDir }, { trieDir }, {}, { trieDir: join(trieDir, 'other') }, { trieDir }]) {
      await commit(chain, 3)
      const { follower, log } = await follow(chain, [peer], { archive, ...options })
      await follower.synced()
      await follower.close()
      expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
      builds.push(log.lines.filter(({ message }) => message.startsWith('Building the trie')).length)
    }
    // The first folder is behind the archive when it is opened for the last time.
    expect(builds).toEqual([0, 0, 1, 1, 1])
    const utxos = await rebuildUtxos({ archive, genesis: chain.genesis, height: 15n })
    expect([...utxos.keys()].sort()).toEqual([...chain.utxos.keys()].sort())
  })

  it('goes on after a failure between the trie and the archive', async () => {
    const chain = new SourceChain()
    await commit(chain, 5)
    const { archive } = await openTestStore()
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

  it('ends what is under way when it is closed', async () => {
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
