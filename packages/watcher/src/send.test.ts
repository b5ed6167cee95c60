import { fromHex } from '@ratatosk/cbor'
import { openWallet } from '@ratatosk/layer1'
import type { RecordedTransaction } from '@ratatosk/store'
import { keysFromSigningKey } from '@ratatosk/transaction'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { openScene } from '../../protocol/dist/test/protocol-scene.js'
import type { WatcherContext } from './context.js'
import { buildAndSend, send } from './send.js'
import { evaluator } from './test/scene.js'

afterAll(() => evaluator.close())

test('pays with nothing that a sweep in flight makes: the next process would not know it', async () => {
  const scene = await openScene()
  const { devnet, layer1, run } = scene
  onTestFinished(() => devnet.close())
  const keys = keysFromSigningKey('07'.repeat(32), { networkId: 0 })
  const { produced } = await run({ outputs: [{ address: keys.address.bytes, lovelace: 9_000_000n }] })
  const wallet = openWallet({ layer1, keys, evaluator })
  const recorded: RecordedTransaction[] = []
  const lacks: (string | undefined)[] = []
  const context = {
    layer1,
    wallet,
    validityMs: 600_000,
    sendings: new Map(),
    verdicts: { record: async (_: Uint8Array, each: RecordedTransaction) => recorded.push(each) },
    log: { warn: () => undefined },
    step: () => undefined,
    lacks: (lack?: { readonly code: string }) => lacks.push(lack?.code),
  } as unknown as WatcherContext

  const { id, bytes } = await wallet.build({ inputs: [{ utxo: produced[0]! }] })
  await send(context, { id: fromHex(id), cbor: bytes, stage: 'sweep' })
  const address = keys.address.bytes
  const wanted = {
    headerHash: new Uint8Array(28),
    stage: 'question',
    draft: { outputs: [{ address, lovelace: 2_000_000n }] },
  } as const
  const { slot } = await layer1.tip()
  expect(await buildAndSend(context, wanted, slot)).toBeUndefined()
  expect(lacks).toEqual(['WATCHER_LACKS_FUNDS'])
  expect(recorded).toEqual([])
  await devnet.produceBlock()
  // The wallet reads that it is included.
  await buildAndSend(context, wanted, slot)
  expect(await buildAndSend(context, wanted, slot)).toMatchObject({ stage: 'question' })
  expect(lacks.at(-1)).toBeUndefined()
})
