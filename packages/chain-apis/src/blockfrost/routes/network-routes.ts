import type { FastifyInstance } from 'fastify'
import { limitedPages } from '../../limited-outputs.js'
import { epochLength, maxSupply } from '../../mainnet-values.js'
import type { ChainView } from '../../view/chain-view.js'

export function addNetworkRoutes(fastify: FastifyInstance, chain: ChainView, maxOutputs: number): void {
  fastify.get('/network/eras', async () => [
    {
      start: { time: 0, slot: 0, epoch: 0 },
      end: { time: null, slot: null, epoch: null },
      parameters: {
        epoch_length: Number(epochLength),
        slot_length: chain.slots.slotLength / 1000,
        safe_zone: 3 * chain.securityParameter,
      },
    },
  ])

  let running: Promise<object> | undefined
  // All who ask meanwhile share one answer.
  fastify.get('/network', { config: { operation: 'utxos' } }, () => {
    running ??= networkJson(chain, maxOutputs).finally(() => {
      running = undefined
    })
    return running
  })
}

/**
 * All ada of the chain is in unspent outputs: there are no rewards, treasury or delegation. The rest of the
 * maximum supply is shown as reserves, as Blockfrost's sum demands.
 */
async function networkJson(chain: ChainView, maxOutputs: number) {
  let circulating = 0n
  let locked = 0n
  for await (const outputs of limitedPages(chain, { spent: false }, maxOutputs)) {
    for (const { output } of outputs) {
      const { address, value } = output
      circulating += value.lovelace
      if ('payment' in address && address.payment.kind === 'script') locked += value.lovelace
    }
  }
  return {
    supply: {
      max: String(maxSupply),
      total: String(circulating),
      circulating: String(circulating),
      locked: String(locked),
      treasury: '0',
      reserves: String(maxSupply - circulating),
    },
    stake: { live: '0', active: '0' },
  }
}
