import { genesisHeaderHash } from '@ratatosk/contracts'
import { type RootElement, readStateQueue, type StateQueue } from '@ratatosk/layer1'
import { equalBytes, fromHex, toHex } from '@ratatosk/ledger'
import type { Block, BlockState } from '@ratatosk/store'
import { brokenQueue, foreignQueue, notInitialised } from '../refusal.js'
import { alignRoots, rootBefore } from './align-roots.js'
import { line, noteMerged, setState } from './note.js'
import { returnBlocks } from './return-blocks.js'
import { short, type Work } from './work.js'

const pageSize = 256n

/** The whole state queue, read at one moment, and sound. */
export async function readQueue({
  layer1,
  contracts,
  signal,
}: Pick<Work, 'layer1' | 'contracts' | 'signal'>): Promise<StateQueue & { readonly root: RootElement }> {
  const queue = readStateQueue(contracts, await layer1.utxosAt(contracts.queue.addressText, { signal }))
  const [root] = queue.roots
  if (root === undefined) throw notInitialised()
  if (queue.fault) throw brokenQueue(queue.fault.message)
  return { ...queue, root }
}

/**
 * Makes the store agree with the whole queue as layer 1 has it: after a roll-back, or where this process was away for long.
 * Blocks that layer 1 lacks are on their way again; blocks that it has and that were removed here are taken back.
 *
 * @throws {Refusal} `foreign-queue` where layer 1 has what this store has never known; nothing is changed then
 */
export async function compareQueue(work: Work): Promise<void> {
  const { store, memory } = work
  const queue = await readQueue(work)
  const base = await knownState(work, queue.root)
  const expected = [
    ...base.removed.map(({ headerHash }) => headerHash),
    ...queue.blocks.map(({ headerHash }) => fromHex(headerHash)),
  ]
  const last = (await store.blocks.newest())?.height ?? 0n
  const common = await countCommon(work, base.height, last, expected)
  const lacking = await Promise.all(expected.slice(common).map((hash) => removedBlock(work, hash)))

  const present = base.height + BigInt(common)
  const merged = base.height + BigInt(Math.min(base.removed.length, common))
  await setStates(work, { merged, present, last })
  memory.matureUpTo = 0n
  memory.library = undefined
  memory.sent.clear()
  if (lacking.length === 0) return
  if (present < last) await returnBlocks(work, present + 1n, 'layer 1 has another block in its place')
  for (const block of lacking) await revive(work, block)
}

/** The newest block here that the confirmed state comes after, and the removed ones from there to it. */
async function knownState(
  { store: { blocks }, memory }: Work,
  { datum: { state } }: RootElement,
): Promise<{ readonly height: bigint; readonly removed: readonly Block[] }> {
  const removed: Block[] = []
  let hash = state.headerHash
  while (!equalBytes(hash, genesisHeaderHash())) {
    const block = await blocks.byHash(hash)
    if (block === undefined)
      throw foreignQueue(`The confirmed state is of block ${toHex(hash)}, which this store has never had`)
    if (block.state !== 'removed') return { height: block.height, removed }
    removed.unshift(block)
    hash = block.previousHeaderHash
  }
  const first = removed[0] ?? (await blocks.byHeight(1n))
  const beginning = first ? rootBefore(first) : memory.genesisRoot
  if (removed.length === 0 && beginning && !equalBytes(beginning, state.utxoRoot)) {
    throw foreignQueue('The state queue began with outputs that are not those of this ledger')
  }
  return { height: 0n, removed }
}

/** How many of the blocks above a height are those that layer 1 has there. */
async function countCommon(
  { store: { blocks } }: Work,
  above: bigint,
  last: bigint,
  expected: readonly Uint8Array[],
): Promise<number> {
  let common = 0
  for (let from = above + 1n; from <= last; from += pageSize) {
    for (const { headerHash } of await blocks.range(from, from + pageSize - 1n)) {
      const other = expected[common]
      if (other === undefined || !equalBytes(headerHash, other)) return common
      common++
    }
  }
  return common
}

async function removedBlock({ store: { blocks } }: Work, hash: Uint8Array): Promise<Block> {
  const block = await blocks.byHash(hash)
  if (block?.state === 'removed') return block
  throw foreignQueue(`The state queue holds block ${toHex(hash)}, which this store has never had`)
}

interface Extent {
  /** Up to this height, blocks are in the confirmed state. */
  readonly merged: bigint
  /** Up to this height, they are on layer 1. */
  readonly present: bigint
  readonly last: bigint
}

async function setStates(work: Work, { merged, present, last }: Extent): Promise<void> {
  const { store, log } = work
  const confirmed = (await store.blocks.confirmed())?.height ?? 0n
  const lowest = (confirmed < merged ? confirmed : merged) + 1n
  const rolledBack: Block[] = []
  // From the top, so that no merged block is ever above one that is not.
  for (let to = last; to >= lowest; to -= pageSize) {
    const from = to - pageSize + 1n
    const page = await store.blocks.range(from < lowest ? lowest : from, to)
    const change = async (state: Exclude<BlockState, 'removed'>, which: (block: Block) => boolean) => {
      const changed = page.filter((block) => block.state !== state && which(block))
      if (changed.length > 0) await setState(work, changed, state)
      return changed
    }
    const seen = (state: BlockState) => state === 'committed' || state === 'mature' || state === 'merged'
    rolledBack.push(...(await change('submitted', ({ height, state }) => height > present && seen(state))))
    const standing = await change(
      'committed',
      ({ height, state }) => height > merged && height <= present && state !== 'mature',
    )
    rolledBack.push(...standing.filter(({ state }) => state === 'merged'))
    const news = standing.filter(({ state }) => state !== 'merged')
    if (news.length > 0) work.step('block-committed')
    for (const block of news) log.info(...line('confirmed: it is in the state queue', block))
  }
  const toMerge = await unmergedUpTo(work, lowest, merged)
  if (toMerge.length > 0) await noteMerged(work, toMerge)
  if (rolledBack.length > 0) {
    const heights = rolledBack.map(({ height }) => height).sort((a, b) => Number(a - b))
    log.warn(
      { heights: heights.map(Number) },
      `layer 1 was rolled back: ${heights.length} blocks from ${heights[0]} on are no more where they were`,
    )
  }
}

async function unmergedUpTo(
  { store: { blocks } }: Work,
  from: bigint,
  to: bigint,
): Promise<readonly Block[]> {
  if (to < from) return []
  return (await blocks.range(from, to)).filter(({ state }) => state !== 'merged')
}

/** Layer 1 has a block after all that was removed here. */
async function revive(work: Work, block: Block): Promise<void> {
  const { store, roots, log } = work
  const { headerHash, height, transactions, firstSequence, lastSequence, utxosRoot } = block
  await alignRoots(work, await store.blocks.newest())
  const oldest = await store.blocks.oldest(transactions)
  if (oldest[0]?.sequence !== firstSequence || oldest.at(-1)?.sequence !== lastSequence) {
    throw foreignQueue(
      `The state queue holds block ${toHex(headerHash)}, whose transactions are not the oldest here`,
    )
  }
  const made = await roots.apply(oldest.map(({ cbor }) => cbor))
  work.step('roots-applied')
  if (!equalBytes(made.utxosRoot, utxosRoot)) {
    throw new Error(`The transactions of block ${height} do not give its root any more`)
  }
  await store.blocks.revive(headerHash, work.lease)
  work.step('block-revived')
  log.warn(
    { height: Number(height), headerHash: toHex(headerHash) },
    `block ${height} (${short(headerHash)}) is on layer 1 after all: taken back`,
  )
}
