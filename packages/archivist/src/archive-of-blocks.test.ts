import { bodyOf, encodeBlockBody } from '@ratatosk/block'
import { openStore } from '@ratatosk/store'
import { acceptedOf, SourceChain } from '@ratatosk/test-kit'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import { describe, expect, it, test } from 'vitest'
import { archiveOfBlocks, createBodyCache } from './archive-of-blocks.js'

async function open(transactions: readonly number[]) {
  const chain = new SourceChain(5)
  for (const count of transactions) await chain.commit(count)
  return { chain, archive: archiveOfBlocks(chain) }
}

async function read(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all)
}

describe('archiveOfBlocks', () => {
  it('derives a body from transactions that span several pages', async () => {
    const { chain, archive } = await open([0, 1, 249, 250, 251, 600])
    for (const { headerHash, cbors } of chain.blocks) {
      const body = await read(archive.body(headerHash))
      expect(body.equals(encodeBlockBody(bodyOf(cbors)))).toBe(true)
    }
  })

  it('serves a block from the state submitted until it is removed', async () => {
    const { chain, archive } = await open([1])
    const block = chain.tip!
    const { headerHash, header, height } = block
    for (const [state, merged] of [
      ['built', undefined],
      ['submitted', false],
      ['committed', false],
      ['mature', false],
      ['merged', true],
      ['removed', undefined],
    ] as const) {
      Object.assign(block, { state })
      const expected = merged === undefined ? undefined : { headerHash, height, header, merged }
      expect(await archive.byHash(headerHash)).toEqual(expected)
      expect(await archive.byHeight(1n)).toEqual(expected)
      expect(await archive.range(1n, 1n)).toEqual(expected ? [expected] : [])
      if (expected) await read(archive.body(headerHash))
      else await expect(read(archive.body(headerHash))).rejects.toThrow('The archive does not have block')
    }
  })

  it('derives a body once for many readers and evicts the least recently read', async () => {
    const { chain } = await open([20, 20, 20])
    const [first, second, third] = chain.blocks.map(({ headerHash }) => headerHash)
    const { length } = encodeBlockBody(bodyOf(chain.tip!.cbors))
    const archive = archiveOfBlocks(chain, { cacheBytes: 2.5 * length })
    const readsOf = async (hash: Uint8Array) => {
      const before = chain.reads
      await read(archive.body(hash))
      return chain.reads - before
    }
    expect(await readsOf(first!)).toBe(1)
    expect(await readsOf(first!)).toBe(0)
    expect(await readsOf(second!)).toBe(1)
    expect(await readsOf(first!)).toBe(0)
    // Two fit: the least recently read one is evicted.
    expect(await readsOf(third!)).toBe(1)
    expect(await readsOf(first!)).toBe(0)
    expect(await readsOf(third!)).toBe(0)
    expect(await readsOf(second!)).toBe(1)
    const small = archiveOfBlocks(chain, { cacheBytes: 1000 })
    const before = chain.reads
    await read(small.body(first!))
    await read(small.body(first!))
    expect(chain.reads).toBe(before + 2)
  })

  it('does not cache a body that was not read to its end', async () => {
    const { chain, archive } = await open([300])
    const { headerHash, cbors } = chain.tip!
    for await (const _ of archive.body(headerHash)) break
    expect((await read(archive.body(headerHash))).equals(encodeBlockBody(bodyOf(cbors)))).toBe(true)
  })

  it('fails when transactions are missing instead of serving a partial body', async () => {
    const { chain, archive } = await open([3])
    Object.assign(chain.tip!, { cbors: chain.tip!.cbors.slice(1) })
    await expect(read(archive.body(chain.tip!.headerHash))).rejects.toThrow(RangeError)
  })
})

describe('archiveOfBlocks with a bridge', () => {
  const bridge = new Uint8Array(28).fill(0xb1)

  it('serves deposits, also of a block without transactions', async () => {
    const { chain } = await open([0, 2])
    const deposits = [1, 2].map((byte) => ({
      id: new Uint8Array(32).fill(byte),
      output: chain.genesis[0]!.output,
    }))
    const stored = deposits.map((deposit) => ({ ...deposit, address: Uint8Array.of(0x60) }))
    const archive = archiveOfBlocks(
      {
        byHash: (hash) => chain.byHash(hash),
        byHeight: (height) => chain.byHeight(height),
        range: (from, to) => chain.range(from, to),
        transactionsOf: (hash, part) => chain.transactionsOf(hash, part),
        depositsOf: async () => stored,
      },
      { bridge },
    )
    for (const { headerHash, cbors } of chain.blocks) {
      const body = await read(archive.body(headerHash))
      expect(body.equals(encodeBlockBody(bodyOf(cbors, { deposits, bridge })))).toBe(true)
    }
    const without = archiveOfBlocks(chain, { bridge })
    await expect(read(without.body(chain.blocks[0]!.headerHash))).rejects.toThrow('need `depositsOf`')
  })
})

describe('archiveOfBlocks of store.blocks', () => {
  it('serves the blocks of a store', async () => {
    const { chain } = await open([700])
    const { cbors, fields, header, headerHash } = chain.tip!
    const store = await openTestStore(openStore)
    await store.applyGenesis(chain.genesis.map((output) => ({ ...output, address: Uint8Array.of(0x60) })))
    await store.withLedger((ledger) => ledger.apply({ transactions: cbors.map(acceptedOf) }))
    const lease = (await store.leases.acquire('sequencer', 'test', 60_000))!
    const oldest = await store.blocks.oldest(1000)
    await store.blocks.build(
      {
        headerHash,
        header,
        previousHeaderHash: fields.prevHeaderHash,
        utxosRoot: fields.utxosRoot,
        startTime: fields.startTime,
        endTime: fields.endTime,
        firstSequence: oldest.at(0)!.sequence,
        lastSequence: oldest.at(-1)!.sequence,
        transactions: oldest.length,
        commitTransaction: { id: new Uint8Array(32), cbor: Uint8Array.of(0x84) },
      },
      lease,
    )
    const archive = archiveOfBlocks(store.blocks)
    expect(await archive.byHeight(1n)).toBeUndefined()
    await store.blocks.setState([headerHash], 'submitted', lease)
    expect(await archive.byHeight(1n)).toEqual({ headerHash, height: 1n, header, merged: false })
    expect((await read(archive.body(headerHash))).equals(encodeBlockBody(bodyOf(cbors)))).toBe(true)
  })
})

const mebibyte = 1024 * 1024
const pieces = 640

/** A body of 40 MiB; counts how often it is derived. */
function largeBody() {
  const count = { derived: 0 }
  return {
    count,
    async *derive() {
      count.derived++
      for (let n = 0; n < pieces; n++) yield Buffer.alloc(65_536, n)
    },
  }
}

/** Readers that have read `position` pieces and then stall. */
async function stalled(readers: AsyncGenerator<Uint8Array, void>[], position: number) {
  for (const reader of readers) for (let n = 0; n < position; n++) await reader.next()
}

test('20 stalled readers of a 40 MiB body share one derivation within the limit', async () => {
  const cache = createBodyCache(64 * mebibyte)
  const { count, derive } = largeBody()
  const before = process.memoryUsage().rss
  const readers = Array.from({ length: 20 }, () => cache.read('block', derive))
  await stalled(readers, 630)
  const growth = Math.round((process.memoryUsage().rss - before) / mebibyte)
  console.log(`20 stalled readers of a 40 MiB body: RSS +${growth} MiB, derived ${count.derived} times`)
  expect(count.derived).toBe(1)
  expect(cache.bytes).toBeLessThanOrEqual(64 * mebibyte)
  let rest = 0
  for await (const _ of readers[7]!) rest++
  expect(rest).toBe(pieces - 630)
  for (const reader of readers) await reader.return()
})

test('each reader derives a body that does not fit, without a gap, and nothing of it is cached', async () => {
  const cache = createBodyCache(10 * mebibyte)
  const { derive } = largeBody()
  const readers = [cache.read('block', derive), cache.read('block', derive)]
  await stalled(readers, 100)
  expect(cache.bytes).toBeLessThanOrEqual(10 * mebibyte)
  for (const reader of readers) {
    let position = 100
    for await (const piece of reader) expect(piece[0]).toBe(position++ % 256)
    expect(position).toBe(pieces)
  }
  expect(cache.bytes).toBe(0)
})

test('ends and drops a derivation that all readers have left', async () => {
  const cache = createBodyCache(64 * mebibyte)
  let ended = 0
  async function* derive() {
    try {
      for (let n = 0; n < pieces; n++) yield Buffer.alloc(65_536, n)
    } finally {
      ended++
    }
  }
  const readers = [cache.read('block', derive), cache.read('block', derive)]
  await stalled(readers, 5)
  await readers[0]!.return()
  expect(ended).toBe(0)
  await readers[1]!.return()
  expect(ended).toBe(1)
  expect(cache.bytes).toBe(0)
})

test('a failed derivation fails its readers, and the next reader starts a new one', async () => {
  const cache = createBodyCache(64 * mebibyte)
  let fails = true
  async function* derive() {
    yield Buffer.alloc(65_536)
    if (fails) throw new Error('the table is gone')
  }
  const read = async () => {
    let count = 0
    for await (const _ of cache.read('block', derive)) count++
    return count
  }
  await expect(Promise.all([read(), read()])).rejects.toThrow('the table is gone')
  fails = false
  expect(await read()).toBe(1)
})
