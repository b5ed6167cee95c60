import { slotToTime } from '@ratatosk/ledger'
import type { FastifyInstance } from 'fastify'
import { readBlockHash } from '../../block-hash.js'
import { epochLength, epochOf, maxSupply } from '../../mainnet-values.js'
import type { ChainBlock, ChainView } from '../../view/chain-view.js'
import { notFound } from '../errors.js'
import { type Paging, readPaging } from '../paging.js'
import { parametersJson } from '../parameters-json.js'

/** Routes for health, genesis, epochs, protocol parameters and blocks. */
export function addChainRoutes(fastify: FastifyInstance, chain: ChainView): void {
  const tip = { config: { operation: 'tip' as const } }
  const parameters = { config: { operation: 'parameters' as const } }

  fastify.get('/', async () => ({ url: 'https://blockfrost.io/', version: '0.1.0' }))
  fastify.get('/health', async () => ({ is_healthy: true }))
  fastify.get('/health/clock', async () => ({
    server_time: Number(slotToTime(chain.slots, chain.currentSlot())),
  }))

  fastify.get('/genesis', async () => ({
    active_slots_coefficient: 1,
    update_quorum: 5,
    max_lovelace_supply: String(maxSupply),
    network_magic: chain.networkMagic,
    epoch_length: Number(epochLength),
    system_start: seconds(slotToTime(chain.slots, 0n)),
    slots_per_kes_period: 129_600,
    slot_length: chain.slots.slotLength / 1000,
    max_kes_evolutions: 62,
    security_param: chain.securityParameter,
  }))

  fastify.get('/epochs/latest', tip, async () => {
    const { slot, height } = await chain.tip()
    const start = (slot / epochLength) * epochLength
    return {
      epoch: epochOf(slot),
      start_time: seconds(slotToTime(chain.slots, start)),
      end_time: seconds(slotToTime(chain.slots, start + epochLength)),
      first_block_time: seconds(slotToTime(chain.slots, start)),
      last_block_time: seconds(slotToTime(chain.slots, slot)),
      block_count: height,
      tx_count: 0,
      output: '0',
      fees: '0',
      active_stake: null,
    }
  })
  fastify.get('/epochs/latest/parameters', parameters, async () => parametersJson(chain))
  fastify.get<{ Params: { epoch: string } }>('/epochs/:epoch/parameters', parameters, async (request) => {
    const body = await parametersJson(chain)
    const epoch = Number(request.params.epoch)
    if (!/^\d+$/.test(request.params.epoch) || epoch > body.epoch) throw notFound()
    return { ...body, epoch }
  })

  fastify.get('/blocks/latest', tip, async () => blockJson(chain, await newestBlock(chain)))
  fastify.get<{ Querystring: Paging }>('/blocks/latest/txs', tip, async ({ query }) =>
    hashesOf(chain, await newestBlock(chain), query),
  )
  fastify.get<{ Params: { block: string } }>('/blocks/:block', tip, async ({ params }) =>
    blockJson(chain, await blockBy(chain, params.block)),
  )
  fastify.get<{ Params: { block: string }; Querystring: Paging }>(
    '/blocks/:block/txs',
    tip,
    async ({ params, query }) => hashesOf(chain, await blockBy(chain, params.block), query),
  )
}

/** Blockfrost's times are whole seconds. */
export function seconds(milliseconds: bigint): number {
  return Number(milliseconds / 1000n)
}

async function hashesOf(chain: ChainView, { height, hash }: ChainBlock, query: Paging): Promise<string[]> {
  const part = readPaging(query)
  if (height === 0) return []
  return (await chain.blockTransactions(hash, part)).map((transaction) => transaction.hash)
}

async function blockBy(chain: ChainView, hashOrHeight: string): Promise<ChainBlock> {
  const at = /^\d{1,15}$/.test(hashOrHeight) ? Number(hashOrHeight) : readBlockHash(hashOrHeight)
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

async function blockJson(chain: ChainView, block: ChainBlock) {
  const { height, slot, hash, time, size, transactionCount, totals } = block
  const [tip, next] = await Promise.all([chain.tip(), chain.block(height + 1)])
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
