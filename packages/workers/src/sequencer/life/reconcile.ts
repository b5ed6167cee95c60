import { blockTokenName, decodeBlockDatum, genesisHeaderHash } from '@ratatosk/contracts'
import { Layer1Error, type RootElement, readStateQueue } from '@ratatosk/layer1'
import { equalBytes, toHex } from '@ratatosk/ledger'
import type { Block } from '@ratatosk/store'
import { brokenQueue, foreignQueue, notInitialised } from '../refusal.js'
import { compareQueue } from './compare-queue.js'
import { type Link, linksOf } from './links.js'
import { type LocalBlocks, readLocalBlocks } from './local-blocks.js'
import { isMature } from './maturity.js'
import { line, noteMerged, setState } from './note.js'
import { sendLinks } from './send-links.js'
import type { Work } from './work.js'

/** Store and layer 1 as they were found to agree. */
export interface Standing {
  /** Of layer 1's tip, before anything else was looked at. */
  readonly slot: bigint
  readonly root: RootElement
  readonly local: LocalBlocks
  /** On their way, in order. */
  readonly links: readonly Link[]
}

const mostRounds = 8

/**
 * Compares the store with layer 1 and mends what differs: notes blocks that came into the queue, became mature or were merged, sends
 * again what is on its way, and returns to the mempool what can never arrive. Nothing is done twice: layer 1 is looked at first.
 *
 * It looks at the root and at the newest blocks only, and at the whole queue where these do not fit.
 *
 * @throws {Refusal} where the queue is not there, not sound, or not this store's
 */
export async function reconcile(work: Work): Promise<Standing> {
  for (let round = 0; round < mostRounds; round++) {
    const local = await readLocalBlocks(work)
    // The tip first: what is read afterwards is no older than it.
    const { slot } = await work.layer1.tip({ signal: work.signal })
    const root = await soleRoot(work)
    const found = await lookAtEnds(work, local, root)
    if (found === 'differs') await compareQueue(work)
    if (found !== 'agrees') continue
    if (await ripen(work, local, slot)) continue
    const links = linksOf(local, work.memory.deadMerges)
    const alive = await sendLinks(work, links, slot, root)
    if (alive === 'changed') continue
    forget(work, local, alive)
    return { slot, root, local, links: alive }
  }
  throw new Layer1Error('invalid answer', 'Layer 1 tells of another state at each look')
}

/** Keeps no more in memory than what is on its way needs. */
function forget({ memory }: Work, { oldest }: LocalBlocks, alive: readonly Link[]): void {
  const onTheirWay = new Set(alive.map(({ id }) => id))
  for (const id of memory.sent.keys()) if (!onTheirWay.has(id)) memory.sent.delete(id)
  const merges = new Set(
    oldest.flatMap(({ mergeTransaction }) => (mergeTransaction ? [toHex(mergeTransaction.id)] : [])),
  )
  for (const id of memory.deadMerges) if (!merges.has(id)) memory.deadMerges.delete(id)
}

/** @throws {Refusal} where there is none, or several */
async function soleRoot({ layer1, contracts, signal }: Work): Promise<RootElement> {
  const { roots } = readStateQueue(contracts, await layer1.utxosByUnit(contracts.queue.unit, { signal }))
  const [root, second] = roots
  if (root === undefined) throw notInitialised()
  if (second !== undefined) throw brokenQueue(`There are ${roots.length} root units`)
  return root
}

async function lookAtEnds(
  work: Work,
  local: LocalBlocks,
  root: RootElement,
): Promise<'agrees' | 'changed' | 'differs'> {
  const { confirmed, flying, standing, oldest } = local
  const { headerHash, utxoRoot } = root.datum.state
  if (!equalBytes(headerHash, confirmed?.headerHash ?? genesisHeaderHash())) {
    const merged = oldest.findIndex((block) => equalBytes(block.headerHash, headerHash))
    if (merged < 0) return 'differs'
    await noteMerged(work, oldest.slice(0, merged + 1))
    return 'changed'
  }
  const { genesisRoot } = work.memory
  if (confirmed === undefined && genesisRoot && !equalBytes(genesisRoot, utxoRoot)) {
    throw foreignQueue('The state queue began with outputs that are not those of this ledger')
  }
  const arrived = await countArrived(work, flying)
  const last = flying[arrived - 1] ?? standing
  const link = last === undefined ? root.datum.link : await linkBehind(work, last)
  // Something stands where our queue ends, or our queue is not there.
  if (link !== undefined) return 'differs'
  if (arrived === 0) return 'agrees'
  await noteCommitted(work, flying.slice(0, arrived))
  return 'changed'
}

/** How many of the blocks on their way are in the queue. Each needs the one before it, so mostly one look suffices. */
async function countArrived(work: Work, flying: readonly Block[]): Promise<number> {
  const newest = flying.at(-1)
  if (newest === undefined) return 0
  if ((await linkBehind(work, newest)) !== 'no element') return flying.length
  for (const [index, block] of flying.slice(0, -1).entries()) {
    if ((await linkBehind(work, block)) === 'no element') return index
  }
  return flying.length - 1
}

/** What a block in the queue links to: another block's hash, nothing, or it is not there. */
async function linkBehind(
  { layer1, contracts: { queue }, signal }: Work,
  { headerHash }: Block,
): Promise<Uint8Array | undefined | 'no element'> {
  const unit = queue.policy + toHex(blockTokenName(headerHash))
  const [utxo] = await layer1.utxosByUnit(unit, { signal })
  if (utxo?.output.datum.kind !== 'inline') return 'no element'
  return decodeBlockDatum(utxo.output.datum.data).link
}

async function noteCommitted(work: Work, blocks: readonly Block[]): Promise<void> {
  await setState(work, blocks, 'committed')
  work.step('block-committed')
  for (const block of blocks) work.log.info(...line('confirmed: it is in the state queue', block))
}

/** Notes the blocks whose window is over by layer 1's time. */
async function ripen(work: Work, { confirmed, standing }: LocalBlocks, slot: bigint): Promise<boolean> {
  const { store, memory, log } = work
  const first = (confirmed?.height ?? 0n) + 1n
  const last = standing?.height ?? 0n
  for (let from = memory.matureUpTo < first ? first : memory.matureUpTo + 1n; from <= last; from += 16n) {
    const to = from + 15n < last ? from + 15n : last
    const page = await store.blocks.range(from, to)
    const ripe = page.filter((block) => isMature(work, block, slot))
    const news = ripe.filter(({ state }) => state === 'committed')
    if (news.length > 0) {
      await setState(work, news, 'mature')
      work.step('block-mature')
      for (const block of news) log.info(...line('mature', block))
    }
    memory.matureUpTo = ripe.at(-1)?.height ?? memory.matureUpTo
    if (news.length > 0) return true
    if (ripe.length < page.length) return false
  }
  return false
}
