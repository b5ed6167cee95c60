import { expect, test } from 'vitest'
import { buildAndSend, send } from './send.js'
import { openContext } from './test/context.js'

test('pays with nothing that a sweep in flight makes: the next process would not know it', async () => {
  const { address, funded, devnet, layer1, store, start, headerHash, lacks } = await openContext(9_000_000n)
  const context = start()
  const { wallet } = context

  const { id, bytes } = await wallet.build({ inputs: [{ utxo: funded }] })
  await send(context, { id, cbor: bytes, stage: 'sweep' })
  const wanted = {
    headerHash,
    stage: 'question',
    draft: { outputs: [{ address, lovelace: 2_000_000n }] },
  } as const
  const { slot } = await layer1.tip()
  expect(await buildAndSend(context, wanted, slot)).toBeUndefined()
  expect(lacks).toEqual(['WATCHER_LACKS_FUNDS'])
  expect((await store.verdicts.open())[0]!.journal).toEqual([])
  await devnet.produceBlock()
  // The wallet reads that it is included.
  await buildAndSend(context, wanted, slot)
  expect(await buildAndSend(context, wanted, slot)).toMatchObject({ stage: 'question' })
  expect(lacks.at(-1)).toBeUndefined()
})
