import { toHex } from '@ratatosk/cbor'
import type { Layer1 } from '@ratatosk/layer1'
import type { Contracts } from '@ratatosk/protocol'
import type { Store } from '@ratatosk/store'
import type { SignedTransaction } from '@ratatosk/test-kit'
import { expect } from 'vitest'
import { openRoots, type Roots } from '../roots/index.js'
import { contracts, queueOf } from './rollup.js'

const genesisHash = '00'.repeat(28)

/** Expects that layer 1, store and trie agree, and that every transaction is in exactly one place. */
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
  expect(queue.blocks.map(({ headerHash }) => toHex(headerHash))).toEqual(
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
    placed.push(...(await store.blocks.transactionsOf(headerHash)).map(({ cbor }) => toHex(cbor)))
  }
  placed.push(...(await store.blocks.oldest(100_000)).map(({ cbor }) => toHex(cbor)))
  expect(placed).toEqual(accepted.map(({ cbor }) => toHex(cbor)))
}

/** Polls until a condition holds. Fails with the condition's source when it does not hold in time. */
export async function until(condition: () => Promise<boolean>, timeoutMs = 120_000): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > deadline)
      throw new Error(`Not reached within ${timeoutMs} ms: ${condition.toString().slice(0, 300)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

export async function everythingMerged(store: Store): Promise<boolean> {
  const before = await store.blocks.newest()
  if (before?.state !== 'merged' || (await store.blocks.waiting(1)) > 0) return false
  // Transactions that left the mempool in between are in a newer block.
  const after = await store.blocks.newest()
  return after?.height === before.height
}
