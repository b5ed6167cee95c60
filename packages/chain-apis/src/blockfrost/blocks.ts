import { slotToTime } from '@ratatosk/ledger'
import { readBlockHash } from '../block-hash.js'
import { TooManyOutputsError } from '../limited-outputs.js'
import { epochLength, epochOf } from '../mainnet-values.js'
import type { ChainBlock, ChainView, ListPart } from '../view/chain-view.js'
import { badRequest, notFound } from './errors.js'
import { seconds } from './places-json.js'

const largestNumber = 2 ** 31 - 1

/** A whole number of 31 bits in a path; undefined for other texts. */
export function readNumber(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) && Number(text) <= largestNumber ? Number(text) : undefined
}

/** @throws {BlockfrostError} 400 if the text is neither hash nor height, 404 for a block that is not there */
export async function blockBy(chain: ChainView, text: string): Promise<ChainBlock> {
  const isHash = /^([0-9a-f]{56}|[0-9a-f]{64})$/i.test(text)
  const height = isHash ? undefined : readNumber(text)
  if (!isHash && height === undefined) {
    const number = text === '' ? Number.NaN : Number(text)
    if (Number.isNaN(number)) throw badRequest('Missing or malformed block hash.')
    if (number < 0 || number > largestNumber)
      throw badRequest('Missing, out of range or malformed block number.')
    throw notFound()
  }
  const at = height ?? readBlockHash(text)
  const block = await chain.block(at)
  if (block !== undefined) return block
  if (at === 0 || at === chain.genesisHash) return genesisBlock(chain)
  throw notFound()
}

export async function newestBlock(chain: ChainView): Promise<ChainBlock> {
  return (await chain.block((await chain.tip()).hash)) ?? genesisBlock(chain)
}

function genesisBlock({ genesisHash, slots }: ChainView): ChainBlock {
  return {
    height: 0,
    slot: 0n,
    hash: genesisHash,
    previous: genesisHash,
    time: slotToTime(slots, 0n),
    size: 0,
    transactionCount: 0,
  }
}

/** The lowest block in a slot or after it; undefined beyond the tip. Found by halving the chain. */
export async function firstBlockFrom(chain: ChainView, slot: bigint): Promise<ChainBlock | undefined> {
  const tip = await chain.tip()
  if (tip.slot < slot) return undefined
  let found: ChainBlock | undefined
  let [low, high] = [0, tip.height]
  while (low < high) {
    const middle = low + Math.ceil((high - low) / 2)
    const block = await chain.blockAfter(middle - 1)
    if (block === undefined || block.slot >= slot) {
      found = block ?? found
      high = middle - 1
    } else low = block.height
  }
  return found
}

/** As answers show a block. An open one has no sums yet: clients that ask for the tip do not wait. */
export async function blockJson(chain: ChainView, block: ChainBlock) {
  const { height, slot, hash, time, size, transactionCount, open } = block
  const [tip, next, totals] = await Promise.all([
    chain.tip(),
    chain.block(height + 1),
    transactionCount > 0 && !open ? chain.totals(height, height) : undefined,
  ])
  return {
    time: seconds(time),
    height,
    hash,
    slot: Number(slot),
    epoch: epochOf(slot),
    epoch_slot: Number(slot % epochLength),
    slot_leader: 'ratatosk',
    size,
    tx_count: transactionCount,
    output: totals === undefined ? null : String(totals.output),
    fees: totals === undefined ? null : String(totals.fees),
    block_vrf: null,
    op_cert: null,
    op_cert_counter: null,
    previous_block: height === 0 ? null : block.previous,
    next_block: next?.hash ?? null,
    confirmations: tip.height - height,
  }
}

/** The most blocks of a list that is read whole: each costs several queries. */
export const mostBlocks = 300

/**
 * The blocks from a height to another that are there.
 *
 * @throws {TooManyOutputsError}
 */
export async function blocksBetween(
  chain: ChainView,
  first: number,
  last: number,
  order: Required<ListPart>['order'] = 'oldest-first',
): Promise<ChainBlock[]> {
  const count = Math.max(0, last - first + 1)
  if (count > mostBlocks) throw new TooManyOutputsError(mostBlocks, 'blocks are in the list')
  const blocks: ChainBlock[] = []
  for (let step = 0; step < count; step++) {
    const height = order === 'oldest-first' ? first + step : last - step
    const block = await chain.block(height)
    if (block !== undefined) blocks.push(block)
  }
  return blocks
}
