import { slotToTime } from '@ratatosk/ledger'
import type { FastifyInstance } from 'fastify'
import type { Block } from '../../chain/types.js'
import type { Devnet } from '../../types.js'
import { epochLength, epochOf } from '../epochs.js'
import { notFound } from './errors.js'
import { type Paging, page } from './paging.js'
import { parametersJson } from './parameters-json.js'

/** What is asked about the chain as a whole: health, genesis, blocks, epochs, parameters. */
export function addChainRoutes(fastify: FastifyInstance, devnet: Devnet): void {
  const tip = { config: { operation: 'tip' as const } }
  const parameters = { config: { operation: 'parameters' as const } }

  fastify.get('/', async () => ({ url: 'https://blockfrost.io/', version: '0.1.0' }))
  fastify.get('/health', async () => ({ is_healthy: true }))
  fastify.get('/health/clock', async () => ({
    server_time: Number(slotToTime(devnet.slots, devnet.currentSlot())),
  }))

  fastify.get('/genesis', async () => ({
    active_slots_coefficient: 1,
    update_quorum: 5,
    max_lovelace_supply: '45000000000000000',
    network_magic: devnet.networkMagic,
    epoch_length: Number(epochLength),
    system_start: seconds(devnet.slots.zeroTime),
    slots_per_kes_period: 129_600,
    slot_length: devnet.slots.slotLength / 1000,
    max_kes_evolutions: 62,
    security_param: devnet.securityParameter,
  }))

  fastify.get('/network/eras', async () => [
    {
      start: { time: 0, slot: 0, epoch: 0 },
      end: { time: null, slot: null, epoch: null },
      parameters: {
        epoch_length: Number(epochLength),
        slot_length: devnet.slots.slotLength / 1000,
        safe_zone: 3 * devnet.securityParameter,
      },
    },
  ])

  fastify.get('/epochs/latest', tip, async () => {
    const slot = devnet.tip().slot
    const start = (slot / epochLength) * epochLength
    return {
      epoch: epochOf(slot),
      start_time: seconds(slotToTime(devnet.slots, start)),
      end_time: seconds(slotToTime(devnet.slots, start + epochLength)),
      first_block_time: seconds(slotToTime(devnet.slots, start)),
      last_block_time: seconds(slotToTime(devnet.slots, slot)),
      block_count: devnet.tip().height,
      tx_count: 0,
      output: '0',
      fees: '0',
      active_stake: null,
    }
  })
  fastify.get('/epochs/latest/parameters', parameters, async () => parametersJson(devnet))
  fastify.get<{ Params: { epoch: string } }>('/epochs/:epoch/parameters', parameters, async (request) => {
    const body = parametersJson(devnet)
    const epoch = Number(request.params.epoch)
    if (!/^\d+$/.test(request.params.epoch) || epoch > body.epoch) throw notFound()
    return { ...body, epoch }
  })

  fastify.get('/blocks/latest', tip, async () => blockJson(devnet, newestBlock(devnet)))
  fastify.get<{ Querystring: Paging }>('/blocks/latest/txs', tip, async (request) =>
    page(hashes(newestBlock(devnet)), request.query),
  )
  fastify.get<{ Params: { block: string } }>('/blocks/:block', tip, async (request) =>
    blockJson(devnet, blockBy(devnet, request.params.block)),
  )
  fastify.get<{ Params: { block: string }; Querystring: Paging }>(
    '/blocks/:block/txs',
    tip,
    async (request) => page(hashes(blockBy(devnet, request.params.block)), request.query),
  )
}

/** Whole seconds: Blockfrost's times. */
export function seconds(milliseconds: bigint): number {
  return Number(milliseconds / 1000n)
}

function hashes(block: Block): string[] {
  return block.transactions.map(({ hash }) => hash)
}

function blockBy(devnet: Devnet, hashOrHeight: string): Block {
  const block = devnet.block(/^\d{1,15}$/.test(hashOrHeight) ? Number(hashOrHeight) : hashOrHeight)
  if (block !== undefined) return block
  if (hashOrHeight === '0' || hashOrHeight === devnet.genesisHash) return genesisBlock(devnet)
  throw notFound()
}

function newestBlock(devnet: Devnet): Block {
  return devnet.block(devnet.tip().hash) ?? genesisBlock(devnet)
}

function genesisBlock({ genesisHash, slots }: Devnet): Block {
  return {
    height: 0,
    slot: 0n,
    hash: genesisHash,
    previous: genesisHash,
    time: slots.zeroTime,
    size: 0,
    transactions: [],
  }
}

function blockJson(devnet: Devnet, block: Block) {
  const { height, slot, hash, time, size, transactions } = block
  const sum = (values: readonly bigint[]): string | null =>
    transactions.length === 0 ? null : String(values.reduce((total, value) => total + value, 0n))
  const bodies = transactions.map(({ transaction }) => transaction.body)
  return {
    time: seconds(time),
    height,
    hash,
    slot: Number(slot),
    epoch: epochOf(slot),
    epoch_slot: Number(slot % epochLength),
    slot_leader: 'ratatosk-devnet',
    size,
    tx_count: transactions.length,
    output: sum(bodies.flatMap(({ outputs }) => outputs.map(({ value }) => value.lovelace))),
    fees: sum(bodies.map(({ fee }) => fee)),
    block_vrf: null,
    op_cert: null,
    op_cert_counter: null,
    previous_block: height === 0 ? null : block.previous,
    next_block: devnet.block(height + 1)?.hash ?? null,
    confirmations: devnet.tip().height - height,
  }
}
