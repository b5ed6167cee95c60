import { type Address, decodeAddress, scriptAddress } from '@ratatosk/ledger'
import { keysFromSigningKey, toOutput } from '@ratatosk/ledger/builder'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import type { Log } from '@ratatosk/ports'
import { ProtocolError } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { withBridge } from '../bridge/moment.js'
import { loadContext } from '../context.js'
import { contractsOf } from '../layer1/settlement.js'
import { readSettings } from '../settings/read.js'
import { beforeInit } from './following.js'
import { newestRoots } from './services.js'
import { leavingBy } from './validation.js'

test('a state queue that is not begun yet is information without a stack, a broken one a failure', () => {
  const lines: unknown[] = []
  const told = (level: string) => (fields: object, message: string) =>
    void lines.push([level, fields, message])
  const log: Log = { info: told('info'), warn: told('warn'), error: told('error') }
  const none = new ProtocolError('PROTOCOL_BROKEN_QUEUE', 'Layer 1 has no state queue of these contracts')
  const broken = new ProtocolError('PROTOCOL_BROKEN_QUEUE', 'The state queue is broken: 2 roots')
  beforeInit(log).error({ height: 0, err: none }, none.message)
  beforeInit(log).error({ height: 0, err: broken }, broken.message)
  expect(lines).toEqual([
    ['info', { height: 0 }, none.message],
    ['error', { height: 0, err: broken }, broken.message],
  ])
})

test('a standby proves by the roots of the active sequencer', async () => {
  const rootsOf = (byte: number) => ({
    root: async () => Uint8Array.of(byte),
    prove: async () => ({ isUnspent: true, proof: Uint8Array.of(byte) }),
  })
  const sequencer = { active: false }
  const [remote, own] = [rootsOf(1), rootsOf(2)]
  const newest = newestRoots(remote, own, sequencer)
  const proved = async () => [await newest.root(), await newest.prove(new Uint8Array(), new Uint8Array())]
  expect(await proved()).toEqual([await remote.root(), await remote.prove()])
  sequencer.active = true
  expect(await proved()).toEqual([await own.root(), await own.prove()])
})

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
