import type { Contracts, Layer1 } from '@ratatosk/layer1'
import { toHex } from '@ratatosk/ledger'
import type { Store } from '@ratatosk/store'
import { expect } from 'vitest'
import { openRoots } from '../roots/open-roots.js'
import type { Roots } from '../roots/types.js'
import type { SignedTransaction } from './midgard.js'
import { contracts, queueOf } from './rollup.js'

const genesisHash = '00'.repeat(28)

/** Holds layer 1, the store and the trie to each other, and every accepted transaction to exactly one place. */
export async function expectAgreement(
  store: Store,
  layer1: Layer1,
  roots: Roots,
  accepted: readonly SignedTransaction[],
  of: Contracts = contracts,
): Promise<void> {
  const newest = await store.blocks.newest()
  const confirmed = await store.blocks.confirmed()
  const blocks = await store.blocks.range(1n, newest?.height ?? 0n)
  const queue = await queueOf(layer1, of)
  expect(queue.fault).toBeUndefined()
  expect(queue.strays).toEqual([])
  const [root] = queue.roots
  expect(toHex(root!.datum.state.headerHash)).toBe(confirmed ? toHex(confirmed.headerHash) : genesisHash)
  const unmerged = blocks.filter(({ state }) => state !== 'merged')
  expect(queue.blocks.map(({ headerHash }) => headerHash)).toEqual(
    unmerged.map(({ headerHash }) => toHex(headerHash)),
  )
  expect(blocks.map(({ height }) => height)).toEqual(blocks.map((_, index) => BigInt(index + 1)))
  expect(blocks.map(({ previousHeaderHash }) => toHex(previousHeaderHash))).toEqual([
    ...blocks.slice(0, 1).map(() => genesisHash),
    ...blocks.slice(0, -1).map(({ headerHash }) => toHex(headerHash)),
  ])

  const rebuilt = await openRoots()
  try {
    const ofLedger = toHex(await rebuilt.rebuild(store.blocks.utxosAfterNewest()))
    expect(toHex(await roots.root())).toBe(ofLedger)
    if (newest) expect(toHex(newest.utxosRoot)).toBe(ofLedger)
  } finally {
    await rebuilt.close()
  }

  const placed: string[] = []
  for (const { headerHash } of blocks) {
    placed.push(...(await store.blocks.transactionsOf(headerHash)).map(toHex))
  }
  placed.push(...(await store.blocks.oldest(100_000)).map(({ cbor }) => toHex(cbor)))
  expect(placed).toEqual(accepted.map(({ cbor }) => toHex(cbor)))
}

/** Waits for a state that nothing tells of. */
export async function until(reached: () => Promise<boolean>): Promise<void> {
  while (!(await reached())) await new Promise((resolve) => setTimeout(resolve, 10))
}

/** Nothing waits in the mempool, and every block is merged. */
export async function everythingMerged(store: Store): Promise<boolean> {
  // The mempool first: what leaves it meanwhile is in the newest block.
  return (await store.blocks.waiting(1)) === 0 && (await store.blocks.newest())?.state === 'merged'
}
