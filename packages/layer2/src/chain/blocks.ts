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
import type { Block, OrderedTransaction, SequencePart, Store } from '@ratatosk/store'
import type { At } from '../ledger-index/index.js'
import { shareReads } from '../ledger-index/share-reads.js'
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

/** Reads the closed blocks of a finality from the store, and adds the open block that follows them. */
export function viewBlocks(finality: Finality, { blocks, chain, slots, now }: BlockSource): ViewBlocks {
  // Clients that follow the chain read the same blocks at the same time.
  const readNewest = shareReads(() => readHead(blocks, chain, finality, slots))
  const head = () => readNewest('head')
  const currentSlot = () => timeToSlot(slots, BigInt(Math.floor(now())))

  function openTip({ tip }: Head): ChainTip {
    let slot = currentSlot()
    // The clock may be behind that of the sequencer.
    if (slot < tip.slot) slot = tip.slot
    return { height: tip.height + 1, slot, hash: openHash(tip.hash) }
  }

  async function openBlock(newest: Head): Promise<ChainBlock> {
    const tip = openTip(newest)
    const { transactions, bytes } =
      finality === 'accepted'
        ? await chain.countAfter(newest.lastSequence, maxCounted)
        : { transactions: 0, bytes: 0 }
    return {
      ...tip,
      previous: newest.tip.hash,
      time: slotToTime(slots, tip.slot),
      size: bytes,
      transactionCount: transactions,
      open: true,
    }
  }

  async function closedBlock(block: Block | undefined, newest: Head): Promise<ChainBlock | undefined> {
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

  const blockAt = shareReads(async (at: number | string): Promise<ChainBlock | undefined> => {
    const newest = await head()
    if (typeof at === 'number') {
      if (at === newest.tip.height + 1) return openBlock(newest)
      if (at < 1 || at > newest.tip.height) return undefined
      return closedBlock(await blocks.byHeight(BigInt(at)), newest)
    }
    const headerHash = readBlockHash(at)
    if (headerHash === undefined) return undefined
    if (at === openHash(newest.tip.hash)) return openBlock(newest)
    // The open block's hash still resolves after it closes.
    const { block } = newest
    if (block !== undefined && at === openHash(blockHash(block.previousHeaderHash)))
      return closedBlock(block, newest)
    return closedBlock(await blocks.byHash(headerHash), newest)
  })

  async function closedUntil(slot: bigint, { tip, block: last }: Head): Promise<Block | undefined> {
    if (slot >= tip.slot) return last
    // Blocks end in the order of their heights: few are read.
    let found: Block | undefined
    let [low, high] = [0, tip.height - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      const block = await blocks.byHeight(BigInt(middle))
      if (block !== undefined && tipOf(block, slots).slot <= slot) [found, low] = [block, middle]
      else high = middle - 1
    }
    return found
  }

  async function placesOf(sequences: Iterable<bigint>, newest: Head): Promise<(sequence: bigint) => Place> {
    const wanted = [...new Set(sequences)].filter((sequence) => sequence > 0n)
    const found = await chain.places(wanted)
    const open = openTip(newest)
    return (sequence) => {
      if (sequence <= 0n) return { block: genesisTip, position: 0 }
      const place = found.get(sequence)
      if (place !== undefined) return { block: tipOf(place.block, slots), position: place.position }
      // Sequences have gaps, so this is the order in the block rather than the index.
      return { block: open, position: Math.max(0, Number(sequence - newest.lastSequence - 1n)) }
    }
  }

  async function ledgerAt({ height, position }: BlockPoint, newest: Head): Promise<At | undefined> {
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

  async function acceptedAfter(sequence: bigint, part: ListPart): Promise<ChainTransaction[]> {
    return (await chain.acceptedAfter(sequence, sequencePart(part))).map(toChainTransaction)
  }

  return {
    head,
    placesOf,
    closedUntil,
    ledgerAt,
    currentSlot,
    openSlot: (newest) => openTip(newest).slot,
    slotAgo(milliseconds, { tip }) {
      const slot = timeToSlot(slots, BigInt(Math.floor(now() - milliseconds)))
      if (slot < tip.slot) return tip.slot
      return slot
    },
    tip: async () => openTip(await head()),
    block: blockAt,
    blockAfter: (height) => blockAt(height + 1),
    async blockUntil(slot) {
      const block = await closedUntil(slot, await head())
      return block === undefined ? genesisTip : tipOf(block, slots)
    },
    async blockTransactions(hash, part) {
      const newest = await head()
      if (hash === openHash(newest.tip.hash))
        return finality === 'accepted' ? acceptedAfter(newest.lastSequence, part) : []
      const block = await blockAt(hash)
      const headerHash = block && readBlockHash(block.hash)
      if (headerHash === undefined || block?.open) return []
      const transactions = await blocks.transactionsOf(headerHash, sequencePart(part))
      return transactions.map(toChainTransaction)
    },
    async transaction(hash) {
      if (!transactionIdHex.test(hash)) return undefined
      // The head first: otherwise a transaction of the head's block could appear to be in no block.
      const newest = await head()
      const found = await chain.transaction(fromHex(hash))
      if (found === undefined) return undefined
      const transaction = toChainTransaction(found)
      if (finality !== 'accepted' && found.sequence > newest.lastSequence) return { transaction }
      const { place } = found
      if (place !== undefined)
        return { transaction, place: { block: tipOf(place.block, slots), position: place.position } }
      // Its block has left the chain since the head was read.
      if (finality !== 'accepted') return { transaction }
      const placeOf = await placesOf([found.sequence], newest)
      return { transaction, place: placeOf(found.sequence) }
    },
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
