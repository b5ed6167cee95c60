import { fileURLToPath } from 'node:url'
import { defaultParameters } from '@ratatosk/devnet'
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

test.each([
  ['devnet', 11],
  ['preview', 11],
  ['preprod', 11],
  ['mainnet', 11],
] as const)(
  '%s has default parameters of version %d, with the fees of the specification and three cost models',
  async (NETWORK, major) => {
    const parameters = await loadProtocolParameters({ NETWORK })
    expect(parameters.ledgerVersion.major).toBe(major)
    expect(parameters).toMatchObject({ minFeeA: 44n, minFeeB: 155_381n, maxTransactionSize: 16_384 })
    expect(Object.keys(parameters.costModels)).toEqual(['PlutusV1', 'PlutusV2', 'PlutusV3'])
  },
)

test('has the same parameters of ledger version 11 for all networks', async () => {
  const networks = ['devnet', 'preprod', 'mainnet', 'preview'] as const
  const all = await Promise.all(
    networks.map((NETWORK) => loadProtocolParameters({ NETWORK, LEDGER_VERSION: '11' })),
  )
  for (const parameters of all) expect(parameters).toEqual(defaultParameters('11'))
  const { ledgerVersion, costModels, maxTransactionExecutionUnits } = defaultParameters('11')
  expect(ledgerVersion).toEqual({ major: 11, minor: 0 })
  const lengths = Object.entries(costModels).map(([language, model]) => [language, model.length])
  expect(Object.fromEntries(lengths)).toEqual({ PlutusV1: 332, PlutusV2: 332, PlutusV3: 350 })
  expect(maxTransactionExecutionUnits.memory).toBe(16_500_000n)
})

test('refuses a file of another ledger version', async () => {
  const PROTOCOL_PARAMETERS_FILE = fileURLToPath(new URL('../../parameters/preprod-11.json', import.meta.url))
  const settings = { NETWORK: 'mainnet', PROTOCOL_PARAMETERS_FILE } as const
  const { ledgerVersion } = await loadProtocolParameters(settings)
  expect(ledgerVersion.major).toBe(11)
  await expect(loadProtocolParameters({ ...settings, LEDGER_VERSION: '10' })).rejects.toThrow(
    /^LEDGER_VERSION is 10, but .*ledger version 11: name a file of version 10, or set LEDGER_VERSION=11\.$/,
  )
})
