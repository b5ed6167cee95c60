import { type Layer1, Layer1Error } from '@ratatosk/layer1'
import { expect, test } from 'vitest'
import { follow } from './send.js'
import { openContext } from './test/context.js'

const unknown: Partial<Layer1> = { status: async () => ({ kind: 'unknown' }) }
const behind: Partial<Layer1> = { ...unknown, utxosAt: async () => [], utxosByReferences: async () => [] }

test('gives up what has expired only when no answer of the provider can be older than that', async () => {
  const { address, layer1, clock, devnet, store, start, record } = await openContext(50_000_000n)
  const validUntil = devnet.currentSlot() + 10n
  const draft = { outputs: [{ address, lovelace: 2_000_000n }], validUntil }
  const { recorded, id } = await record('datum', draft)
  await layer1.submit(recorded.cbor)
  await devnet.produceBlock()
  const pass = async (ms: number) => {
    clock.time += ms
    await devnet.produceBlock()
    return (await layer1.tip()).slot
  }
  const lagging = start(unknown)
  const state = async (slot: bigint) => (await follow(lagging, [recorded], slot))[0]!.state
  const kept = async () => (await store.verdicts.recorded([recorded.id])).length
  expect(await state(await pass(60_000))).toBe('pending')
  expect(await kept()).toBe(1)
  const slot = await pass(50_000)
  expect(await follow(start(), [recorded], slot)).toMatchObject([{ state: 'included' }])
  // As one that was never included.
  expect(await state(await pass(60_000))).toBe('dead')
  expect(await kept()).toBe(0)
  expect([...lagging.dead]).toEqual([id])
})

test('takes an output that the provider does not show for a late one, not for a spent one', async () => {
  const { address, layer1, devnet, start, record } = await openContext(50_000_000n)
  const draft = { outputs: [{ address, lovelace: 2_000_000n }] }
  const { wallet } = start()
  const parent = await wallet.send(draft)
  const { recorded } = await record('datum', draft, { ...start(), wallet })
  await devnet.produceBlock()
  const { slot } = await layer1.tip()
  expect(await follow(start(behind), [recorded], slot)).toMatchObject([{ state: 'pending' }])
  expect(await follow(start(), [recorded], slot)).toMatchObject([{ state: 'pending' }])
  await devnet.produceBlock()
  for (const id of [parent.id, recorded.id]) expect((await layer1.status(id)).kind).toBe('confirmed')
})

test('gives up what another transaction has overtaken, and what spends its outputs', async () => {
  const { address, funded, layer1, devnet, start, record } = await openContext(50_000_000n)
  const draft = { outputs: [{ address, lovelace: 2_000_000n }] }
  const earlier = start()
  const parent = await record('datum', { ...draft, inputs: [{ utxo: funded }] }, earlier)
  const child = await record('datum', draft, earlier)
  const rival = await start().wallet.send({ ...draft, inputs: [{ utxo: funded }], validUntil: 1_000_000n })
  expect(rival.id).not.toEqual(parent.id)
  await devnet.produceBlock()
  const { slot } = await layer1.tip()
  const context = start()
  const states = await follow(context, [parent.recorded, child.recorded], slot)
  expect(states.map(({ state }) => state)).toEqual(['dead', 'dead'])
})

test('keeps what was sent before although a node refuses it now', async () => {
  const { address, layer1, devnet, store, start, record } = await openContext(50_000_000n)
  const { recorded, id } = await record('datum', { outputs: [{ address, lovelace: 2_000_000n }] })
  await layer1.submit(recorded.cbor)
  const refusing = start({
    ...unknown,
    async submit() {
      throw new Layer1Error('LAYER1_REJECTED', 'The network rejects it', {
        reason: 'OutsideValidityInterval',
      })
    },
  })
  const { slot } = await layer1.tip()
  expect(await follow(refusing, [recorded], slot)).toMatchObject([{ state: 'pending' }])
  expect(await store.verdicts.recorded([recorded.id])).toHaveLength(1)
  await devnet.produceBlock()
  expect((await layer1.status(id)).kind).toBe('confirmed')
})
