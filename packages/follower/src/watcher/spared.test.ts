import { expect, test } from 'vitest'
import { buildAndSend } from './send.js'
import { openContext } from './test/context.js'

const datum = { kind: 'inline', data: Uint8Array.of(0x40) } as const

test('pays with no part of a proof until its block is removed or cannot be', async () => {
  const { address, layer1, devnet, store, start, record, headerHash, lacks } = await openContext(10_000_000n)
  const { recorded } = await record('datum', { outputs: [{ address, lovelace: 8_000_000n, datum }] })
  await layer1.submit(recorded.cbor)
  await devnet.produceBlock()
  const { slot } = await layer1.tip()
  const draft = { outputs: [{ address, lovelace: 3_000_000n }] }
  const wanted = { headerHash, stage: 'question', draft } as const
  const context = start()
  expect(await buildAndSend(context, wanted, slot)).toBeUndefined()
  expect(lacks).toEqual(['WATCHER_LACKS_FUNDS'])
  // Its proof is given up: the blocks behind it may need the ada.
  await store.verdicts.unprovable(headerHash, 'It is not provable')
  expect(await buildAndSend(context, wanted, slot)).toMatchObject({ stage: 'question' })
})

test('pays with nothing that a recorded transaction needs that is not in flight', async () => {
  const { address, layer1, start, record, headerHash, lacks, store } = await openContext(10_000_000n)
  const draft = { outputs: [{ address, lovelace: 3_000_000n }] }
  const { recorded } = await record('datum', draft)
  const { slot } = await layer1.tip()
  const wanted = { headerHash, stage: 'question', draft } as const
  const context = start()
  expect(await buildAndSend(context, wanted, slot)).toBeUndefined()
  expect(lacks).toEqual(['WATCHER_LACKS_FUNDS'])
  await store.verdicts.drop(recorded.id)
  expect(await buildAndSend(context, wanted, slot)).toMatchObject({ stage: 'question' })
})
