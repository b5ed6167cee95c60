import { type Address, decodeAddress, scriptAddress } from '@ratatosk/ledger'
import { keysFromSigningKey, toOutput } from '@ratatosk/ledger/builder'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { expect, test } from 'vitest'
import { withBridge } from '../bridge/moment.js'
import { loadContext } from '../context.js'
import { contractsOf } from '../layer1/settlement.js'
import { readSettings } from '../settings/read.js'
import { leavingBy } from './validation.js'

test('a withdrawal to the bridge itself is malformed, with any stake part', async () => {
  const context = await loadContext(readSettings({ LOG_LEVEL: 'silent' }), {})
  const contracts = withBridge(contractsOf(context))
  const leaving = contracts && leavingBy(contracts, context.parameters)
  if (contracts === undefined || leaving === undefined) throw new Error('The devnet has no bridge')
  const { hash } = contracts.bridge.place.script
  const wallet = keysFromSigningKey('07'.repeat(32), { networkId: 0 })
  const staked = decodeAddress(Uint8Array.of(0x10, ...hash, ...wallet.payment.hash))
  const other = scriptAddress(new Uint8Array(28).fill(7), 0)
  const faultOf = ({ bytes }: Pick<Address, 'bytes'>) =>
    leaving.fault(
      toOutput({
        address: contracts.bridge.place.address,
        value: { lovelace: 5_000_000n, assets: new Map() },
        datum: { kind: 'inline', data: encodePlutusData(bytes) },
      }),
    )
  expect(faultOf(wallet.address)).toBeUndefined()
  expect(faultOf(other)).toBeUndefined()
  for (const own of [decodeAddress(contracts.bridge.place.address), staked])
    expect(faultOf(own)).toContain("the bridge's own address")
})
