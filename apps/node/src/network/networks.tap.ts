import { slotToTime } from '@ratatosk/ledger'
import t from 'tap'
import { networkOf } from './networks.js'
import { loadProtocolParameters } from './protocol-parameters.js'

t.test('slots stand in time as on the public networks', async (t) => {
  // The first slots of epochs that block explorers show.
  for (const [name, slot, time] of [
    ['mainnet', 4_492_800n, '2020-07-29T21:44:51.000Z'],
    ['preprod', 86_400n, '2022-06-21T00:00:00.000Z'],
    ['preview', 0n, '2022-10-25T00:00:00.000Z'],
    ['devnet', 86_400n, '2025-01-02T00:00:00.000Z'],
  ] as const) {
    const { slots } = networkOf(name)
    t.equal(new Date(Number(slotToTime(slots, slot))).toISOString(), time, name)
  }
})

t.test('every network has parameters with the fees of the document and three cost models', async (t) => {
  for (const name of ['devnet', 'preview', 'preprod', 'mainnet'] as const) {
    const parameters = await loadProtocolParameters({ NETWORK: name })
    t.match(parameters, { minFeeA: 44n, minFeeB: 155_381n, maxTransactionSize: 16_384 }, name)
    t.same(Object.keys(parameters.costModels), ['PlutusV1', 'PlutusV2', 'PlutusV3'])
  }
})
