import { slotToTime } from '@ratatosk/ledger'
import { expect, test } from 'vitest'
import { networkOf } from './network.js'
import { loadProtocolParameters } from './protocol-parameters.js'

// The first slots of epochs, as block explorers show them.
test.each([
  ['mainnet', 4_492_800n, '2020-07-29T21:44:51.000Z'],
  ['preprod', 86_400n, '2022-06-21T00:00:00.000Z'],
  ['preview', 0n, '2022-10-25T00:00:00.000Z'],
  ['devnet', 86_400n, '2025-01-02T00:00:00.000Z'],
] as const)('%s: slot %s starts at %s', (NETWORK, slot, time) => {
  const { slots } = networkOf(NETWORK)
  expect(new Date(Number(slotToTime(slots, slot))).toISOString()).toBe(time)
})

test.each(['devnet', 'preview', 'preprod', 'mainnet'] as const)(
  '%s has default parameters with the fees of the specification and three cost models',
  async (NETWORK) => {
    const parameters = await loadProtocolParameters({ NETWORK })
    expect(parameters).toMatchObject({ minFeeA: 44n, minFeeB: 155_381n, maxTransactionSize: 16_384 })
    expect(Object.keys(parameters.costModels)).toEqual(['PlutusV1', 'PlutusV2', 'PlutusV3'])
  },
)
