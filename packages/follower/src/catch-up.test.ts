import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import { archiveOfBlocks } from '@ratatosk/archivist'
import { type Archive, partsOfBody } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { Layer1Error } from '@ratatosk/layer1'
import { encodeOutputReference } from '@ratatosk/ledger'
import { openStore } from '@ratatosk/store'
import { SourceChain } from '@ratatosk/test-kit'
import { createMemoryStore, createTrie, type TrieEntry } from '@ratatosk/trie'
import { openLmdbStore } from '@ratatosk/trie/lmdb'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { rebuildUtxos } from './ledger-state.js'
import type { FollowerTask } from './test/follower-process.js'
import { follow, serve } from './test/following.js'

// Set both variables to test a longer chain, such as 500 blocks of 100 transactions.
const blocks = Number(process.env.ARCHIVIST_TEST_BLOCKS ?? 60)
const transactions = Number(process.env.ARCHIVIST_TEST_TRANSACTIONS ?? 20)

/** A trie that steps by what an archive serves, beside the follower's own. */
async function rootsOf(archive: Archive, chain: SourceChain, height: number): Promise<Uint8Array[]> {
  const trie = createTrie({ store: createMemoryStore() })
  const utxos = await rebuildUtxos({ archive, genesis: chain.genesis, height: 0n })
  await trie.rebuild([...utxos].map(([outref, output]): TrieEntry => [Buffer.from(outref, 'hex'), output]))
  const roots: Uint8Array[] = []
  for (let at = 1n; at <= BigInt(height); at++) {
    const block = await archive.byHeight(at)
    for await (const parts of partsOfBody(archive.body(block!.headerHash))) {
      for (const part of parts) {
        if (part.kind === 'spent') trie.delete(part.outref)
        else if (part.kind === 'produced') trie.insert(part.outref, part.output)
      }
    }
    roots.push(trie.root)
  }
  return roots
}

describe('a follower with an empty archive', () => {
  it('knows no target, and how many blocks are in the queue, while no peer has the merged ones', async () => {
    const chain = new SourceChain(5)
    for (let n = 0; n < 4; n++) await chain.commit(1)
    chain.merge(1)
    const { follower, log } = await follow(chain, [await serve(archiveOfBlocks(new SourceChain(5)))])
    follower.synced().catch(() => undefined)
    await log.line(({ message }) => message.startsWith('No peer has a header'))
    expect(follower.status()).toMatchObject({ height: 0n, queued: 3 })
    expect(follower.status().target).toBeUndefined()
  })

  it('warns of a failure of layer 1 that passes', async () => {
    const chain = new SourceChain(5)
    const problem = 'A block changed the list each time it was read'
    const read = async () => Promise.reject(new Layer1Error('LAYER1_INVALID_ANSWER', problem))
    const { follower, log } = await follow({ genesis: chain.genesis, read }, ['http://127.0.0.1:9'])
    follower.synced().catch(() => undefined)
    const line = await log.line(({ message }) => message === problem)
    expect(line).toEqual({ level: 'warn', message: problem, height: 0, code: 'LAYER1_INVALID_ANSWER' })
  })

  it(`archives ${blocks} blocks from a node, and a second follower archives them from the first alone`, {
    timeout: 600_000,
  }, async () => {
    const chain = new SourceChain(40)
    for (let n = 0; n < blocks; n++) await chain.commit(n % 10 === 3 ? 0 : transactions)
    // Most headers are no longer on layer 1.
    chain.merge(blocks - 7)

    const node = await serve(archiveOfBlocks(chain))
    const first = await follow(chain, [node])
    const began = performance.now()
    await first.follower.synced()
    const seconds = (performance.now() - began) / 1000
    const all = chain.blocks.reduce((sum, block) => sum + block.transactions, 0)
    console.log(`${blocks} blocks, ${all} transactions in ${seconds.toFixed(1)} s`)

    const { archive } = first
    expect(first.follower.status()).toMatchObject({ height: BigInt(blocks), target: BigInt(blocks) })
    const archived = await archive.range(1n, BigInt(blocks))
    expect(archived.map(({ headerHash }) => headerHash)).toEqual(
      chain.blocks.map(({ headerHash }) => headerHash),
    )
    expect(archived.filter(({ merged }) => merged)).toHaveLength(blocks - 7)
    const roots = await rootsOf(archive, chain, blocks)
    expect(roots.every((root, i) => equalBytes(root, chain.blocks[i]!.fields.utxosRoot))).toBe(true)

    const progress = first.log.lines.filter(({ message }) => message === 'Archived blocks')
    expect(progress.length).toBeGreaterThanOrEqual(Math.ceil(blocks / 50))
    expect(progress.length).toBeLessThanOrEqual(Math.ceil(blocks / 50) + Math.floor(seconds))
    expect(progress.at(-1)).toMatchObject({ height: blocks, target: blocks })
    expect(first.log.backedOff).toEqual([])

    // The node is not asked again: the second follower learns everything from the first.
    const reads = chain.reads
    const second = await follow(chain, [await serve(archive)])
    await second.follower.synced()
    expect(chain.reads).toBe(reads)
    expect(await second.archive.range(1n, BigInt(blocks))).toEqual(archived)

    // Bodies alone lead to the unspent outputs of the node.
    const utxos = await rebuildUtxos({
      archive: second.archive,
      genesis: chain.genesis,
      height: BigInt(blocks),
    })
    expect(utxos.size).toBe(chain.utxos.size)
    for (const [outref, output] of chain.utxos) expect(equalBytes(utxos.get(outref)!, output)).toBe(true)
  })

  it('reads the blocks of its process without a peer, and those of others from one', async () => {
    const chain = new SourceChain()
    for (let n = 0; n < 6; n++) await chain.commit(2)
    chain.merge(4)
    const whole = archiveOfBlocks(chain)
    const alone = await follow(chain, [], { own: whole })
    await alone.follower.synced()
    expect((await alone.archive.tip())?.headerHash).toEqual(chain.tip!.headerHash)

    const own: string[] = []
    const mostly: Archive = {
      ...whole,
      byHash: async (hash) => {
        const block = await whole.byHash(hash)
        if (block?.height === 5n) return undefined
        if (block) own.push(String(block.height))
        return block
      },
    }
    const served: string[] = []
    const byHash: Archive['byHash'] = async (hash) => {
      const block = await whole.byHash(hash)
      served.push(String(block?.height))
      return block
    }
    const mixed = await follow(chain, [await serve({ ...whole, byHash })], { own: mostly })
    await mixed.follower.synced()
    expect((await mixed.archive.tip())?.headerHash).toEqual(chain.tip!.headerHash)
    expect(new Set(served)).toEqual(new Set(['5']))
    expect(new Set(own)).toEqual(new Set(['1', '2', '3', '4', '6']))
    await expect(follow(chain, [])).rejects.toThrow('at least one peer is required')
  })

  it('asks each peer for blocks that others do not have, without backing off from them', async () => {
    const chain = new SourceChain()
    for (let n = 0; n < 5; n++) await chain.commit(2)
    const older = await follow(chain, [await serve(archiveOfBlocks(chain))])
    await older.follower.synced()
    await older.follower.close()
    for (let n = 0; n < 5; n++) await chain.commit(2)
    chain.merge(8)
    const whole = archiveOfBlocks(chain)
    const newer: Archive = {
      ...whole,
      byHash: async (hash) => {
        const block = await whole.byHash(hash)
        return block && block.height > 4n ? block : undefined
      },
    }
    const { follower, archive, log } = await follow(chain, [await serve(older.archive), await serve(newer)])
    await follower.synced()
    expect((await archive.tip())?.headerHash).toEqual(chain.tip!.headerHash)
    expect(log.backedOff).toEqual([])
  })

  it('archives a block although the next body does not come, and reads layer 1 again at once', async () => {
    const chain = new SourceChain()
    const pollMs = 3000
    for (let n = 0; n < 2; n++) await chain.commit(2)
    const whole = archiveOfBlocks(chain)
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow: Archive = {
      ...whole,
      async *body(hash) {
        if (equalBytes(hash, chain.tip!.headerHash)) await released
        yield* whole.body(hash)
      },
    }
    const reads: number[] = []
    const read: SourceChain['read'] = () => {
      reads.push(performance.now())
      return chain.read()
    }
    const { archive } = await follow(chain, [await serve(slow)], { chain: { read }, pollMs })
    const height = async () => (await archive.tip())?.height
    await vi.waitFor(async () => expect(await height()).toBe(1n), { timeout: pollMs - 500 })
    await new Promise((resolve) => setTimeout(resolve, reads[0]! + pollMs - performance.now()))
    expect(reads).toHaveLength(1)
    release()
    await vi.waitFor(() => expect(reads).toHaveLength(2), { timeout: pollMs - 500 })
    expect(await height()).toBe(2n)
  })

  it('archives new blocks and marks merged ones with each read of layer 1', async () => {
    const chain = new SourceChain()
    const { follower, archive } = await follow(chain, [await serve(archiveOfBlocks(chain))])
    await follower.synced()
    expect(await archive.tip()).toBeUndefined()
    for (let height = 1; height <= 6; height++) {
      await chain.commit(3)
      if (height > 2) chain.merge(height - 2)
      await follower.synced()
      const all = await archive.range(1n, 100n)
      expect(all.map(({ merged }) => merged)).toEqual(chain.blocks.map(({ state }) => state === 'merged'))
      expect((await archive.tip())?.headerHash).toEqual(chain.tip!.headerHash)
    }
  })
})

describe('crash', () => {
  const rounds = Number(process.env.ARCHIVIST_CRASH_ROUNDS ?? 1)
  const blocks = 60 + rounds * 90
  const program = fileURLToPath(new URL('../dist/test/follower-process.js', import.meta.url))

  it(`resumes without a rebuild after it was killed while archiving (${rounds}×)`, {
    timeout: 120_000 + rounds * 60_000,
  }, async () => {
    const dir = await mkdtemp(join(tmpdir(), 'ratatosk-archivist-'))
    onTestFinished(() => rm(dir, { recursive: true, force: true }))
    const chain = new SourceChain()
    for (let n = 0; n < blocks; n++) await chain.commit(2)
    chain.merge(blocks - 20)

    const whole = archiveOfBlocks(chain)
    let asked = 0
    let reached = () => {}
    const peer = await serve({
      ...whole,
      body(hash) {
        asked++
        reached()
        return whole.body(hash)
      },
    })
    const state = await chain.read()
    const task: FollowerTask = {
      dir,
      peer,
      confirmed: toHex(state.confirmed.headerHash),
      headers: chain.blocks.slice(-20).map(({ header }) => toHex(header)),
      genesis: chain.genesis.map(({ reference, output }) => ({
        outref: toHex(encodeOutputReference(reference)),
        output: toHex(output),
      })),
    }
    const start = () =>
      fork(program, [JSON.stringify(task)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })

    for (let round = 0; round < rounds; round++) {
      asked = 0
      // At a different point each time: within a batch, at its end, after it.
      const enough = 55 + ((round * 17) % 40)
      const child = start()
      await new Promise<void>((resolve) => {
        reached = () => {
          if (asked >= enough) resolve()
        }
      })
      child.kill('SIGKILL')
      const [code, signal] = await once(child, 'exit')
      expect([code, signal]).toEqual([null, 'SIGKILL'])
    }

    const child = start()
    const [messages] = await once(child, 'message')
    await once(child, 'exit')
    expect(messages).toContain('Archived blocks')
    expect(messages).not.toContain('Rebuilding the unspent outputs from the archived bodies')

    const pglite = await PGlite.create(join(dir, 'store'))
    onTestFinished(() => pglite.close())
    const store = await openStore({ pglite })
    const archived = await store.archive.range(1n, BigInt(blocks))
    expect(archived.map(({ headerHash }) => headerHash)).toEqual(
      chain.blocks.map(({ headerHash }) => headerHash),
    )
    const utxos = await rebuildUtxos({
      archive: store.archive,
      genesis: chain.genesis,
      height: BigInt(blocks),
    })
    expect(new Map(utxos)).toEqual(chain.utxos)
    const trie = createTrie({ store: openLmdbStore({ path: join(dir, 'trie') }) })
    expect(trie.root).toEqual(chain.tip!.fields.utxosRoot)
    await trie.close()
  })
})
