import { decodeTransaction } from '@ratatosk/ledger'
import { keyOf, signed } from '@ratatosk/test-kit'
import { expect, it } from 'vitest'
import { chainWith } from '../test/served-chain.js'
import type { ChainBlock, ListPart } from '../view/chain-view.js'
import { createBlockReader } from './block-reader.js'

const inputs = [{ transactionId: new Uint8Array(32), index: 0 }]
const { id, cbor } = signed(keyOf(1), { inputs, outputs: [2_000_000n] })
const transaction = { hash: id, transaction: decodeTransaction(cbor) }

function blockOf(height: number, transactionCount: number): ChainBlock {
  const hash = String(height).padStart(64, '0')
  return { height, slot: 1n, hash, previous: '00', time: 0n, size: 1, transactionCount }
}

/** A chain whose blocks consist of one transaction again and again. */
function chainOf(...blocks: readonly ChainBlock[]) {
  const reads: { readonly hash: string; readonly part: ListPart }[] = []
  const chain = chainWith({
    blockTransactions(hash, part) {
      reads.push({ hash, part })
      const count = blocks.find((block) => block.hash === hash)?.transactionCount ?? 0
      return Array.from({ length: Math.min(part.limit, count - part.offset) }, () => transaction)
    },
  })
  return { reads, reader: createBlockReader(chain) }
}
const wanted = () => true

it('builds a block once for all readers, page by page', async () => {
  const block = blockOf(1, 250)
  const { reads, reader } = chainOf(block)
  const answers = await Promise.all(Array.from({ length: 50 }, () => reader.read(block, wanted)))
  expect(new Set(answers).size).toBe(1)
  const json = JSON.parse(String(answers[0]?.part))
  expect(json).toMatchObject({ type: 'praos', height: 1, ancestor: 'genesis', id: block.hash })
  expect(json.transactions.map((each: { id: string }) => each.id)).toEqual(Array(250).fill(id))
  expect(reads.map(({ part }) => part.offset)).toEqual([0, 100, 200])
  expect(await reader.read(block, wanted)).toBe(answers[0])
  expect(reads).toHaveLength(3)
})

it('lets timers and sockets take their turn', async () => {
  const block = blockOf(1, 5000)
  const { reader } = chainOf(block)
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  await reader.read(block, wanted)
  clearInterval(timer)
  expect(turns).toBeGreaterThanOrEqual(2)
})

it('builds one block at a time, and none for a client that has left', async () => {
  const blocks = [blockOf(1, 300), blockOf(2, 300), blockOf(3, 300)] as const
  const { reads, reader } = chainOf(...blocks)
  let left = false
  const answers = blocks.map((block, index) => reader.read(block, () => index !== 1 || !left))
  left = true
  expect((await Promise.all(answers)).map((answer) => answer === undefined)).toEqual([false, true, false])
  expect(reads.map(({ hash }) => Number(hash))).toEqual([1, 1, 1, 3, 3, 3])
})

it('keeps the newest 32 MiB', async () => {
  const blocks = Array.from({ length: 5 }, (_, index) => blockOf(index + 1, 12_000))
  const { reads, reader } = chainOf(...blocks)
  let size = 0
  for (const block of blocks) size = (await reader.read(block, wanted))?.part.length ?? 0
  expect(5 * size).toBeGreaterThan(32 * 1024 * 1024)
  reads.length = 0
  await reader.read(blocks[4]!, wanted)
  expect(reads).toEqual([])
  await reader.read(blocks[0]!, wanted)
  expect(reads).toHaveLength(120)
})

it('returns nothing for a block that has left the chain', async () => {
  const { reader } = chainOf()
  expect(await reader.read(blockOf(1, 1), wanted)).toBeUndefined()
})
