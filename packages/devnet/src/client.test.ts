import { alice, aliceGenesis, payment } from '@ratatosk/test-kit/ledger-apis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDevnetClient, type DevnetClient } from './client.js'
import { createDevnet } from './create-devnet.js'
import type { Devnet } from './types.js'

let devnet: Devnet
let client: DevnetClient
beforeEach(async () => {
  devnet = await createDevnet({ genesis: aliceGenesis, blockEveryMs: 0 })
  client = createDevnetClient(devnet)
})
afterEach(() => devnet.close())

describe('a client', () => {
  it('returns what the devnet returns', async () => {
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
  ] as const)('rejects one request with an injected %s', async (kind, code) => {
    devnet.faults.inject({ kind })
    await expect(client.tip()).rejects.toMatchObject({ code })
    expect(await client.tip()).toEqual(devnet.tip())
  })

  it('lets a time-out last until the signal aborts', async () => {
    devnet.faults.inject({ kind: 'time-out' })
    const controller = new AbortController()
    const tip = client.tip({ signal: controller.signal })
    controller.abort()
    await expect(tip).rejects.toMatchObject({ code: 'DEVNET_FAULT_TIMEOUT' })
  })

  it('loses the response to a request that took effect', async () => {
    devnet.faults.inject({ kind: 'lost-answer', operation: 'submit' })
    const { cbor, hash } = payment()
    await expect(client.submit(cbor)).rejects.toMatchObject({ code: 'DEVNET_FAULT_REFUSED' })
    expect(devnet.status(hash)).toEqual({ status: 'pending' })
  })

  it('delays the response', async () => {
    devnet.faults.inject({ kind: 'delay', delayMs: 50 })
    const started = performance.now()
    expect(await client.tip()).toEqual(devnet.tip())
    expect(performance.now() - started).toBeGreaterThan(45)
  })
})

describe('faults', () => {
  it('apply in order of injection, after the skipped requests, as often as asked', async () => {
    devnet.faults.inject({ kind: 'failure', target: 'kupo', times: Infinity })
    devnet.faults.inject({ kind: 'failure', after: 1, times: 2 })
    const codes: unknown[] = []
    for (let i = 0; i < 4; i++)
      codes.push(
        await client.tip().then(
          () => 'succeeded',
          ({ code }) => code,
        ),
      )
    expect(codes).toEqual(['succeeded', 'DEVNET_FAULT_FAILED', 'DEVNET_FAULT_FAILED', 'succeeded'])
  })

  it('can be removed', async () => {
    const remove = devnet.faults.inject({ kind: 'failure', times: Infinity })
    await expect(client.tip()).rejects.toMatchObject({ code: 'DEVNET_FAULT_FAILED' })
    remove()
    expect(await client.tip()).toEqual(devnet.tip())
    devnet.faults.inject({ kind: 'failure', times: Infinity })
    devnet.faults.clear()
    expect(await client.tip()).toEqual(devnet.tip())
  })
})
