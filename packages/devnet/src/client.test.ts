import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDevnetClient, type DevnetClient } from './client.js'
import { createDevnet } from './create-devnet.js'
import { alice, aliceGenesis, payment } from './test/scenes.js'
import type { Devnet } from './types.js'

let devnet: Devnet
let client: DevnetClient
beforeEach(async () => {
  devnet = await createDevnet({ genesis: aliceGenesis, blockEveryMs: 0 })
  client = createDevnetClient(devnet)
})
afterEach(() => devnet.close())

describe('a client within the process', () => {
  it('answers as the devnet does', async () => {
    expect(await client.tip()).toEqual(devnet.tip())
    expect(await client.utxos({ address: alice.address })).toHaveLength(2)
    expect(await client.parameters()).toBe(devnet.parameters)
    const { cbor, hash } = payment()
    expect(await client.submit(cbor)).toEqual({ kind: 'accepted', hash })
    expect(await client.status(hash)).toEqual({ status: 'pending' })
  })

  it.each([
    ['refusal', 'DEVNET_FAULT_REFUSED'],
    ['rate-limit', 'DEVNET_FAULT_RATE_LIMITED'],
    ['failure', 'DEVNET_FAULT_FAILED'],
    ['garbage', 'DEVNET_FAULT_GARBAGE'],
    ['time-out', 'DEVNET_FAULT_TIMEOUT'],
  ] as const)('meets a %s once', async (kind, code) => {
    devnet.faults.inject({ kind })
    await expect(client.tip()).rejects.toMatchObject({ code })
    expect(await client.tip()).toEqual(devnet.tip())
  })

  it('waits through a time-out until its signal aborts', async () => {
    devnet.faults.inject({ kind: 'time-out' })
    const controller = new AbortController()
    const tip = client.tip({ signal: controller.signal })
    controller.abort()
    await expect(tip).rejects.toMatchObject({ code: 'DEVNET_FAULT_TIMEOUT' })
  })

  it('may lose the answer to what has taken its effect', async () => {
    devnet.faults.inject({ kind: 'lost-answer', operation: 'submit' })
    const { cbor, hash } = payment()
    await expect(client.submit(cbor)).rejects.toMatchObject({ code: 'DEVNET_FAULT_REFUSED' })
    expect(devnet.status(hash)).toEqual({ status: 'pending' })
  })

  it('answers late', async () => {
    devnet.faults.inject({ kind: 'delay', delayMs: 1 })
    expect(await client.tip()).toEqual(devnet.tip())
  })
})

describe('faults', () => {
  it('are met in the order of injection, after those that pass, as often as they say, at their face only', async () => {
    devnet.faults.inject({ kind: 'failure', face: 'kupo', times: Infinity })
    devnet.faults.inject({ kind: 'failure', after: 1, times: 2 })
    const codes: unknown[] = []
    for (let i = 0; i < 4; i++)
      codes.push(
        await client.tip().then(
          () => 'answered',
          ({ code }) => code,
        ),
      )
    expect(codes).toEqual(['answered', 'DEVNET_FAULT_FAILED', 'DEVNET_FAULT_FAILED', 'answered'])
  })

  it('are taken away', async () => {
    const withdraw = devnet.faults.inject({ kind: 'failure', times: Infinity })
    await expect(client.tip()).rejects.toThrow()
    withdraw()
    await client.tip()
    devnet.faults.inject({ kind: 'failure', times: Infinity })
    devnet.faults.clear()
    await client.tip()
  })
})
