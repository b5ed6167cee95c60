import { slotToTime } from '@ratatosk/ledger'
import type { FastifyInstance } from 'fastify'
import { epochLength, maxSupply } from '../../mainnet-values.js'
import type { ChainView } from '../../view/chain-view.js'
import { seconds } from '../places-json.js'

/** Routes for health and genesis. */
export function addChainRoutes(fastify: FastifyInstance, chain: ChainView): void {
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
}
