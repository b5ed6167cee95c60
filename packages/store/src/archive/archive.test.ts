import type { NewArchivedBlock } from '@ratatosk/block'
import { expect, it } from 'vitest'
import { describeBackends, type TestStore } from '../test/backends.js'
import { idOf } from '../test/samples.js'

const hashOf = (name: string) => idOf(name).slice(0, 28)

/** A block whose body has this many bytes, none like its neighbours. */
function block(
  height: number,
  { size = 1000, merged = false, name = `block ${height}` } = {},
): NewArchivedBlock {
  const body = new Uint8Array(size)
  for (let i = 0; i < size; i++) body[i] = (i * 31 + (i >> 8) + height) & 0xff
  return { height: BigInt(height), headerHash: hashOf(name), header: idOf(`header of ${name}`), merged, body }
}

const withoutBody = ({ body: _, ...rest }: NewArchivedBlock) => rest

async function bodyOf({ store }: TestStore, { headerHash }: NewArchivedBlock) {
  const pieces: Uint8Array[] = []
  for await (const piece of store.archive.body(headerHash)) pieces.push(piece)
  return { pieces: pieces.length, bytes: Buffer.concat(pieces) }
}

describeBackends('the archive', (backend) => {
  const within = async (work: (test: TestStore) => Promise<void>) => {
    const test = await backend.create()
    try {
      await work(test)
    } finally {
      await test.drop()
    }
  }

  it('finds blocks by hash, height, range and as the tip', () =>
    within(async ({ store: { archive } }) => {
      expect(await archive.tip()).toBeUndefined()
      expect(await archive.range(0n, 100n)).toEqual([])
      const blocks = [1, 2, 3, 4, 5].map((height) => block(height))
      await archive.put(blocks.slice(0, 2))
      await archive.put([])
      await archive.put(blocks.slice(2))
      expect(await archive.tip()).toEqual(withoutBody(blocks[4]!))
      expect(await archive.byHash(hashOf('block 3'))).toEqual(withoutBody(blocks[2]!))
      expect(await archive.byHeight(3n)).toEqual(withoutBody(blocks[2]!))
      expect(await archive.range(2n, 4n)).toEqual(blocks.slice(1, 4).map(withoutBody))
      expect(await archive.range(0n, 2n ** 63n - 1n)).toEqual(blocks.map(withoutBody))
      expect(await archive.range(4n, 2n)).toEqual([])
      expect(await archive.byHash(hashOf('block 6'))).toBeUndefined()
      expect(await archive.byHeight(0n)).toBeUndefined()
      expect(await archive.byHeight(6n)).toBeUndefined()
    }))

  it('returns bodies of any size in pieces', () =>
    within(async (test) => {
      const sizes = [1, 262_143, 262_144, 262_145, 1_000_000]
      const blocks = sizes.map((size, i) => block(i + 1, { size }))
      await test.store.archive.put(blocks)
      const pieces: number[] = []
      for (const added of blocks) {
        const { bytes, ...read } = await bodyOf(test, added)
        expect(bytes.equals(added.body)).toBe(true)
        pieces.push(read.pieces)
      }
      expect(pieces).toEqual([1, 1, 1, 2, 4])
      const [stored] = await test.database.query<{ storage: string }>(
        `SELECT attstorage::text AS storage FROM pg_attribute
          WHERE attrelid = '${test.schema}.archived_blocks'::regclass AND attname = 'body'`,
      )
      expect(stored).toEqual({ storage: 'e' })
    }))

  it('refuses gaps, and appends all blocks or none', () =>
    within(async ({ store: { archive } }) => {
      await archive.put([block(1)])
      const conflict = { code: 'STORE_CONFLICT' }
      await expect(archive.put([block(3)])).rejects.toMatchObject(conflict)
      await expect(archive.put([block(1, { name: 'other' })])).rejects.toMatchObject(conflict)
      await expect(archive.put([block(2), block(4)])).rejects.toMatchObject(conflict)
      await expect(archive.put([block(2), block(3, { name: 'block 1' })])).rejects.toMatchObject(conflict)
      expect(await archive.tip()).toEqual(withoutBody(block(1)))
      await archive.put([block(2)])
    }))

  it('removes blocks from a height on, but never merged ones', () =>
    within(async (test) => {
      const { archive } = test.store
      await archive.put([block(1, { merged: true }), block(2), block(3), block(4)])
      await archive.markMerged(2n)
      await archive.removeFrom(4n)
      await expect(archive.removeFrom(2n)).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
      expect((await archive.range(1n, 9n)).map(({ height, merged }) => [height, merged])).toEqual([
        [1n, true],
        [2n, true],
        [3n, false],
      ])
      await archive.removeFrom(3n)
      await archive.put([block(3, { name: 'in its place' })])
      expect((await archive.byHeight(3n))?.headerHash).toEqual(hashOf('in its place'))
      await expect(bodyOf(test, block(3))).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
    }))

  it('fails a body read whose block is removed', () =>
    within(async ({ store: { archive } }) => {
      const large = block(1, { size: 300_000 })
      await archive.put([large])
      const pieces = archive.body(large.headerHash)[Symbol.asyncIterator]()
      await pieces.next()
      await archive.removeFrom(1n)
      await expect(pieces.next()).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
    }))

  it('accepts only one of two concurrent writers', () =>
    within(async (test) => {
      const other = await test.another()
      const results = await Promise.allSettled([
        test.store.archive.put([block(1, { name: 'one' })]),
        other.archive.put([block(1, { name: 'two' })]),
      ])
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    }))
})
