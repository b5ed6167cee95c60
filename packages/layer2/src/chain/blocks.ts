import { fromHex, toHex } from '@ratatosk/cbor'
import {
  type BlockPoint,
  type ChainBlock,
  type ChainTip,
  type ChainTransaction,
  type ChainView,
  createPause,
  type ListPart,
  type Place,
} from '@ratatosk/chain-apis'
import {
  decodeTransaction,
  type SlotConfig,
  slotToTime,
  type Transaction,
  timeToSlot,
} from '@ratatosk/ledger'
import type { Block, BlockPlace, OrderedTransaction, SequencePart, Store } from '@ratatosk/store'
import type { At } from '../ledger-index/index.js'
import { shareReads } from '../ledger-index/open-index.js'
import {
  blockHash,
  type Finality,
  genesisTip,
  type Head,
  openHash,
  readBlockHash,
  readHead,
  tipOf,
} from './finality.js'

interface BlockSource extends Pick<Store, 'blocks' | 'chain'> {
  readonly slots: SlotConfig
  /** POSIX milliseconds. */
  readonly now: () => number
}

/** The blocks of a view, and the places of transactions in them. */
export interface ViewBlocks
  extends Pick<
    ChainView,
    | 'currentSlot'
    | 'tip'
    | 'block'
    | 'blockAfter'
    | 'blockUntil'
    | 'blockTransactions'
    | 'transaction'
    | 'transactions'
    | 'mempool'
  > {
  head(): Promise<Head>
  /** The slot of the open block. */
  openSlot(newest: Head): bigint
  /** The slot that the open block had so many milliseconds ago, or that of the block before it. */
  slotAgo(milliseconds: number, newest: Head): bigint
  /** The newest closed block whose slot is not above this one. */
  closedUntil(slot: bigint, newest: Head): Promise<Block | undefined>
  /** The places of transactions by accept sequence. Those in no block are in the open block. */
  placesOf(sequences: Iterable<bigint>, newest: Head): Promise<(sequence: bigint) => Place>
  /** The ledger after a place of the chain; undefined: that place may still come. */
  ledgerAt(point: BlockPoint, newest: Head): Promise<At | undefined>
}

/** Maximum number of transactions of the open block that are counted. */
const maxCounted = 100_000
const transactionIdHex = /^[0-9a-f]{64}$/

/** The blocks of a finality. */
interface View extends BlockSource {
  readonly finality: Finality
  head(): Promise<Head>
}

/** Reads the closed blocks of a finality from the store, and adds the open block that follows them. */
export function viewBlocks(finality: Finality, source: BlockSource): ViewBlocks {
  const { blocks, chain, slots, now } = source
  // Clients that follow the chain read the same blocks at the same time.
  const readNewest = shareReads(() => readHead(blocks, chain, finality, slots))
  const head = () => readNewest('head')
  const view: View = { blocks, chain, slots, now, finality, head }
  const blockAt = shareReads((at: number | string) => readBlock(view, at))

  return {
    head,
    placesOf: (sequences, newest) => placesOf(view, sequences, newest),
    closedUntil: (slot, newest) => closedUntil(view, slot, newest),
    ledgerAt: (point, newest) => ledgerAt(view, point, newest),
    currentSlot: () => slotAgo(view, 0),
    openSlot: (newest) => openTip(view, newest).slot,
    slotAgo: (milliseconds, { tip }) => later(slotAgo(view, milliseconds), tip.slot),
    tip: async () => openTip(view, await head()),
    block: blockAt,
    blockAfter: (height) => blockAt(height + 1),
    async blockUntil(slot) {
      const block = await closedUntil(view, slot, await head())
      return block === undefined ? genesisTip : tipOf(block, slots)
    },
    async blockTransactions(hash, part) {
      const newest = await head()
      if (hash === openHash(newest.tip.hash)) {
        if (finality !== 'accepted') return []
        return (await chain.acceptedAfter(newest.lastSequence, sequencePart(part))).map(toChainTransaction)
      }
      const block = await blockAt(hash)
      const headerHash = block && readBlockHash(block.hash)
      if (headerHash === undefined || block?.open) return []
      const transactions = await blocks.transactionsOf(headerHash, sequencePart(part))
      return transactions.map(toChainTransaction)
    },
    transaction: (hash) => readTransaction(view, hash),
    async transactions(hashes) {
      const wanted = hashes.filter((hash) => transactionIdHex.test(hash)).map(fromHex)
      const found = new Map<string, Transaction>()
      const pause = createPause()
      for (const { id, cbor } of await chain.transactions(wanted)) {
        found.set(toHex(id), decodeTransaction(cbor))
        await pause()
      }
      return found
    },
    async mempool(part) {
      if (finality === 'accepted') return []
      const sizes = await chain.sizesAfter((await head()).lastSequence, sequencePart(part))
      return sizes.map(({ id, bytes }) => ({ hash: toHex(id), bytes }))
    },
  }
}

const later = (one: bigint, other: bigint): bigint => (one < other ? other : one)

function slotAgo({ slots, now }: View, milliseconds: number): bigint {
  return timeToSlot(slots, BigInt(Math.floor(now() - milliseconds)))
}

function openTip(view: View, { tip }: Head): ChainTip {
  // The clock may be behind that of the sequencer.
  const slot = later(slotAgo(view, 0), tip.slot)
  return { height: tip.height + 1, slot, hash: openHash(tip.hash) }
}

async function openBlock(view: View, newest: Head): Promise<ChainBlock> {
  const tip = openTip(view, newest)
  const { transactions, bytes } =
    view.finality === 'accepted'
      ? await view.chain.countAfter(newest.lastSequence, maxCounted)
      : { transactions: 0, bytes: 0 }
  return {
    ...tip,
    previous: newest.tip.hash,
    time: slotToTime(view.slots, tip.slot),
    size: bytes,
    transactionCount: transactions,
    open: true,
  }
}

async function closedBlock(
  { chain, slots }: View,
  block: Block | undefined,
  newest: Head,
): Promise<ChainBlock | undefined> {
  if (block === undefined || block.state === 'removed') return undefined
  if (Number(block.height) > newest.tip.height) return undefined
  const tip = tipOf(block, slots)
  return {
    ...tip,
    previous: blockHash(block.previousHeaderHash),
    time: slotToTime(slots, tip.slot),
    size: await chain.sizeOf(block.headerHash),
    transactionCount: block.transactions,
  }
}

/** @param at the height or the hash */
async function readBlock(view: View, at: number | string): Promise<ChainBlock | undefined> {
  const newest = await view.head()
  if (typeof at === 'number') {
    if (at === newest.tip.height + 1) return openBlock(view, newest)
    if (at < 1 || at > newest.tip.height) return undefined
    return closedBlock(view, await view.blocks.byHeight(BigInt(at)), newest)
  }
  const headerHash = readBlockHash(at)
  if (headerHash === undefined) return undefined
  if (at === openHash(newest.tip.hash)) return openBlock(view, newest)
  // The open block's hash still resolves after it closes.
  const { block } = newest
  if (block !== undefined && at === openHash(blockHash(block.previousHeaderHash)))
    return closedBlock(view, block, newest)
  return closedBlock(view, await view.blocks.byHash(headerHash), newest)
}

async function closedUntil({ blocks, slots }: View, slot: bigint, newest: Head): Promise<Block | undefined> {
  if (slot >= newest.tip.slot) return newest.block
  // Blocks end in the order of their heights: few are read.
  let found: Block | undefined
  let [low, high] = [0, newest.tip.height - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const block = await blocks.byHeight(BigInt(middle))
    if (block !== undefined && tipOf(block, slots).slot <= slot) [found, low] = [block, middle]
    else high = middle - 1
  }
  return found
}

const placeIn = ({ block, position }: BlockPlace, { slots }: View): Place => ({
  block: tipOf(block, slots),
  position,
})

async function placesOf(
  view: View,
  sequences: Iterable<bigint>,
  newest: Head,
): Promise<(sequence: bigint) => Place> {
  const wanted = [...new Set(sequences)].filter((sequence) => sequence > 0n)
  const found = await view.chain.places(wanted)
  const open = openTip(view, newest)
  return (sequence) => {
    if (sequence <= 0n) return { block: genesisTip, position: 0 }
    const place = found.get(sequence)
    if (place !== undefined) return placeIn(place, view)
    // Sequences have gaps, so this is the order in the block rather than the index.
    return { block: open, position: Math.max(0, Number(sequence - newest.lastSequence - 1n)) }
  }
}

async function ledgerAt(
  { blocks, chain }: View,
  { height, position }: BlockPoint,
  newest: Head,
): Promise<At | undefined> {
  if (height < 1) return { sequence: 0n }
  if (height > newest.tip.height) {
    const isOpen = height === newest.tip.height + 1 && position !== undefined
    return isOpen ? { sequence: newest.lastSequence + BigInt(position) + 1n } : undefined
  }
  const block = await blocks.byHeight(BigInt(height))
  if (block === undefined) return undefined
  const [at] =
    position === undefined
      ? []
      : await blocks.transactionsOf(block.headerHash, { offset: position, limit: 1 })
  return { sequence: at?.sequence ?? block.lastSequence, ...(await chain.depositsBeside(block)) }
}

async function readTransaction(view: View, hash: string) {
  if (!transactionIdHex.test(hash)) return undefined
  // The head first: otherwise a transaction of the head's block could appear to be in no block.
  const newest = await view.head()
  const found = await view.chain.transaction(fromHex(hash))
  if (found === undefined) return undefined
  const { sequence, place } = found
  // Without a place, its block has left the chain since the head was read.
  const isPending = sequence > newest.lastSequence || place === undefined
  const transaction = toChainTransaction(found)
  if (isPending && view.finality !== 'accepted') return { transaction }
  const placeOf = place === undefined ? await placesOf(view, [sequence], newest) : () => placeIn(place, view)
  return { transaction, place: placeOf(sequence) }
}

function toChainTransaction({ id, cbor }: OrderedTransaction): ChainTransaction {
  return { hash: toHex(id), transaction: decodeTransaction(cbor) }
}

/** The store's limits are PostgreSQL's `bigint`. */
function sequencePart({ offset, limit, order }: ListPart): SequencePart {
  return {
    offset,
    limit: Math.min(limit, Number.MAX_SAFE_INTEGER),
    newestFirst: order === 'newest-first',
  }
}
