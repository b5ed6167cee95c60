import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BlockError, type NewArchivedBlock } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { expect, it, onTestFinished } from 'vitest'
import { openEvidence } from './evidence.js'

async function openFolder(maxBytes: number) {
  const parent = await mkdtemp(join(tmpdir(), 'ratatosk-evidence-'))
  onTestFinished(() => rm(parent, { recursive: true, force: true }))
  // Created when it is needed.
  const dir = join(parent, 'invalid-blocks')
  return { dir, evidence: openEvidence({ dir, maxBytes }) }
}

/** The arguments of `keep`: a block and the rule that it breaks. */
const invalid = (n: number, bytes = 1_000): [NewArchivedBlock, BlockError] => [
  {
    headerHash: new Uint8Array(28).fill(n),
    height: BigInt(n),
    header: Uint8Array.of(n),
    merged: false,
    body: new Uint8Array(bytes).fill(n),
  },
  new BlockError('BLOCK_INPUT_MISSING', `Block ${n} is wrong`),
]

async function bodyOf(evidence: ReturnType<typeof openEvidence>, n: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of evidence.body(new Uint8Array(28).fill(n))) chunks.push(chunk)
  return Buffer.concat(chunks)
}

it('keeps invalid blocks with their bodies, also for the next process', async () => {
  const { dir, evidence } = await openFolder(1_000_000)
  expect(await evidence.list(10)).toEqual([])
  await evidence.keep(...invalid(1))
  const path = await evidence.keep(...invalid(2, 200_000))
  expect(path).toBe(join(dir, `${toHex(new Uint8Array(28).fill(2))}.json`))
  const next = openEvidence({ dir, maxBytes: 1_000_000 })
  expect(await next.byHash(new Uint8Array(28).fill(2))).toEqual({
    headerHash: new Uint8Array(28).fill(2),
    height: 2n,
    header: Uint8Array.of(2),
    merged: false,
    reason: 'Block 2 is wrong',
    foundAt: expect.any(Date),
  })
  expect(await next.byHash(new Uint8Array(28).fill(3))).toBeUndefined()
  expect((await bodyOf(next, 2)).equals(new Uint8Array(200_000).fill(2))).toBe(true)
  await expect(bodyOf(next, 3)).rejects.toMatchObject({ code: 'FOLLOWER_NO_EVIDENCE' })
  expect((await next.list(10)).map(({ height }) => height).sort()).toEqual([1n, 2n])
  expect(await next.list(1)).toHaveLength(1)
})

it('removes the oldest when the folder is full, and what an interrupted write left', async () => {
  const { dir, evidence } = await openFolder(3_900)
  for (const n of [1, 2, 3]) {
    const path = await evidence.keep(...invalid(n))
    await utimes(path!, n, n)
  }
  await writeFile(join(dir, `${toHex(new Uint8Array(28).fill(9))}.body.cbor.tmp`), new Uint8Array(10_000))
  await evidence.keep(...invalid(4, 1_500))
  expect((await evidence.list(10)).map(({ height }) => height)).toEqual([4n, 3n])
  expect(await readdir(dir)).toHaveLength(4)
  // The bodies of valid blocks take room, and are not listed.
  await evidence.keepBody(new Uint8Array(28).fill(6), new Uint8Array(1_200).fill(6))
  expect((await bodyOf(evidence, 6)).equals(new Uint8Array(1_200).fill(6))).toBe(true)
  expect((await evidence.list(10)).map(({ height }) => height)).toEqual([4n])
  await evidence.keepBody(new Uint8Array(28).fill(7), new Uint8Array(5_000))
  // A block that is larger than the folder may be costs the others nothing.
  expect(await evidence.keep(...invalid(5, 5_000))).toBeUndefined()
  expect((await evidence.list(10)).map(({ height }) => height)).toEqual([4n])
})
