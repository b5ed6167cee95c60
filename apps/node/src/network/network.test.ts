import { slotToTime } from '@ratatosk/ledger'
import { expect, test } from 'vitest'
import { networkOf } from './network.js'
import { loadProtocolParameters } from './protocol-parameters.js'

const LAYER1_PROVIDER = 'blockfrost'

// The first slots of epochs, as block explorers show them.
test.each([
  ['mainnet', 4_492_800n, '2020-07-29T21:44:51.000Z'],
  ['preprod', 86_400n, '2022-06-21T00:00:00.000Z'],
  ['preview', 0n, '2022-10-25T00:00:00.000Z'],
  ['devnet', 86_400n, '2025-01-02T00:00:00.000Z'],
] as const)('%s: slot %s starts at %s', (NETWORK, slot, time) => {
  const { slots } = networkOf({ NETWORK, LAYER1_PROVIDER })
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

test('a ledger with mainnet addresses can settle on a devnet', () => {
  expect(networkOf({ NETWORK: 'mainnet', LAYER1_PROVIDER: 'devnet' })).toMatchObject({
    id: 1,
    layer1: { id: 0, isDevnet: true, magic: 42 },
  })
  expect(networkOf({ NETWORK: 'mainnet', LAYER1_PROVIDER })).toMatchObject({
    layer1: { id: 1, isDevnet: false, magic: 764_824_073 },
  })
})
