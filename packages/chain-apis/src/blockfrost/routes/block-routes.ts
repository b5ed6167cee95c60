import { toHex } from '@ratatosk/cbor'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { clientOf } from '../../client-signal.js'
import { lazyList } from '../../json.js'
import { epochLength } from '../../mainnet-values.js'
import { blockTransactions } from '../../transaction-pages.js'
import { addressText } from '../../view/address-text.js'
import type { ChainBlock, ChainView, ListPart } from '../../view/chain-view.js'
import {
  blockBy,
  blockJson,
  blocksBetween,
  firstBlockFrom,
  mostBlocks,
  newestBlock,
  readNumber,
} from '../blocks.js'
import { badRequest, notFound } from '../errors.js'
import { directions, neighbours } from '../neighbours.js'
import { List, sendJson } from '../paging.js'
import type { BlockfrostSource } from '../source.js'
import { touchedOutputs } from '../touched.js'

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
