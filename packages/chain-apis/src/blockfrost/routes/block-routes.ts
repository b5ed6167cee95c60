import { toHex } from '@ratatosk/cbor'
import { slotToTime } from '@ratatosk/ledger'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readBlockHash } from '../../input.js'
import { lazyList } from '../../json.js'
import { blockTransactions, clientOf } from '../../long-lists.js'
import { epochLength, epochOf } from '../../mainnet-values.js'
import { addressText } from '../../view/address-text.js'
import type { ChainBlock, ChainView, ListPart } from '../../view/chain-view.js'
import { badRequest, notFound } from '../errors.js'
import { TooManyOutputsError, touchedOutputs } from '../limited-outputs.js'
import { type BlockfrostSource, directions, List, neighbours, sendJson } from '../paging.js'
import { seconds } from '../transaction-json.js'

type ByBlock = { Params: { block: string } }

/** Routes for blocks. */
export function addBlockRoutes(
  fastify: FastifyInstance,
  { chain, maxOutputs, lists }: BlockfrostSource,
): void {
  const tip = { config: { operation: 'tip' as const } }
  const transactionsOf = ({ height, hash }: ChainBlock, part: Required<ListPart>) =>
    height === 0 ? [] : chain.blockTransactions(hash, part)
  const sendHashes = async (request: FastifyRequest, read: () => Promise<ChainBlock>) => {
    const list = new List(request, maxOutputs)
    const block = await read()
    return (await list.read((part) => transactionsOf(block, part))).map(({ hash }) => hash)
  }
  const sendCbor = async (request: FastifyRequest, reply: FastifyReply, read: () => Promise<ChainBlock>) => {
    // Never whole: a block may have many megabytes.
    const list = new List({ query: request.query, headers: {} }, maxOutputs)
    const block = await read()
    const transactions = await list.read((part) => transactionsOf(block, part))
    const toJson = ({ hash, transaction }: (typeof transactions)[number]) => ({
      tx_hash: hash,
      cbor: toHex(transaction.bytes),
    })
    return sendJson(reply, lazyList(transactions, toJson))
  }

  fastify.get('/blocks/latest', tip, async () => blockJson(chain, await newestBlock(chain)))
  fastify.get('/blocks/latest/txs', tip, (request) => sendHashes(request, () => newestBlock(chain)))
  fastify.get('/blocks/latest/txs/cbor', tip, (request, reply) =>
    sendCbor(request, reply, () => newestBlock(chain)),
  )
  fastify.get<{ Params: { slot: string } }>('/blocks/slot/:slot', tip, async ({ params }) =>
    blockJson(chain, await blockInSlot(chain, readSlot(params.slot))),
  )
  fastify.get<{ Params: { epoch: string; slot: string } }>(
    '/blocks/epoch/:epoch/slot/:slot',
    tip,
    async ({ params }) => {
      const slot = BigInt(readEpoch(params.epoch)) * epochLength + readSlot(params.slot)
      if (readSlot(params.slot) >= epochLength) throw notFound()
      return blockJson(chain, await blockInSlot(chain, slot))
    },
  )
  fastify.get<ByBlock>('/blocks/:block', tip, async ({ params }) =>
    blockJson(chain, await blockBy(chain, params.block)),
  )
  fastify.get<ByBlock>('/blocks/:block/txs', tip, (request) =>
    sendHashes(request, () => blockBy(chain, request.params.block)),
  )
  fastify.get<ByBlock>('/blocks/:block/txs/cbor', tip, (request, reply) =>
    sendCbor(request, reply, () => blockBy(chain, request.params.block)),
  )
  for (const direction of directions) {
    fastify.get<ByBlock>(`/blocks/:block/${direction}`, tip, async (request) => {
      const list = new List(request, mostBlocks, [], false)
      const { height } = await blockBy(chain, request.params.block)
      const range = { lowest: 1, highest: (await chain.tip()).height }
      const blocks = await list.read((part) => {
        const { first, last } = neighbours(direction, height, part, range)
        return blocksBetween(chain, first, last)
      })
      const all: object[] = []
      for (const block of blocks) all.push(await blockJson(chain, block))
      return all
    })
  }
  fastify.get<ByBlock>('/blocks/:block/addresses', tip, async (request, reply) => {
    const list = new List(request, maxOutputs, [], false)
    const block = await blockBy(chain, request.params.block)
    if (block.height === 0) return []
    const pages = touchedOutputs(chain, blockTransactions(chain, block), maxOutputs)
    return list.of(await addressesOf(lists.pages(pages, clientOf(reply))))
  })
}

/** The addresses that transactions pay to or spend from, each with these transactions. */
async function addressesOf(pages: ReturnType<typeof touchedOutputs>) {
  const found = new Map<string, Set<string>>()
  for await (const page of pages)
    for (const { hash, outputs } of page)
      for (const address of outputs.map((output) => addressText(output.address)))
        found.set(address, (found.get(address) ?? new Set()).add(hash))
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([address, hashes]) => ({ address, transactions: Array.from(hashes, (tx_hash) => ({ tx_hash })) }))
}

async function blockInSlot(chain: ChainView, slot: bigint): Promise<ChainBlock> {
  const block = await firstBlockFrom(chain, slot)
  if (block?.slot !== slot) throw notFound()
  return block
}

const largestNumber = 2 ** 31 - 1

/** A whole number of 31 bits in a path; undefined for other texts. */
function readNumber(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) && Number(text) <= largestNumber ? Number(text) : undefined
}

/** @throws {BlockfrostError} 400 if the text is neither hash nor height, 404 for a block that is not there */
async function blockBy(chain: ChainView, text: string): Promise<ChainBlock> {
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

async function newestBlock(chain: ChainView): Promise<ChainBlock> {
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
async function blockJson(chain: ChainView, block: ChainBlock) {
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

/** @throws {BlockfrostError} 400 if the text is no number of an epoch */
export function readEpoch(text: string): number {
  const epoch = readNumber(text)
  if (epoch === undefined) throw badRequest('Missing, out of range or malformed epoch_number.')
  return epoch
}

function readSlot(text: string): bigint {
  const slot = readNumber(text)
  if (slot === undefined) throw badRequest('Missing, out of range or malformed slot_number.')
  return BigInt(slot)
}
