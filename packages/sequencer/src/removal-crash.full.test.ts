import { once } from 'node:events'
import { fromHex } from '@ratatosk/cbor'
import { openWallet } from '@ratatosk/layer1'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { removeBlock } from '@ratatosk/protocol'
import { chain, collect, fundsOf, keyOf } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import { accept } from './test/accept.js'
import { until } from './test/agreement.js'
import { openProcesses } from './test/processes.js'
import { queueOf } from './test/rollup.js'
import { administratorKeys, userSeed } from './test/rollup-contracts.js'
import type { Step } from './types.js'

/** In the order in which they follow a removal. */
const steps: readonly Step[] = [
  'blocks-undone',
  'blocks-pruned',
  'roots-aligned',
  'transactions-resubmitted',
  'resubmissions-recorded',
]
/** Blocks that are committed; the second is removed. */
const blocks = 4

test(`killed at each of ${steps.length} steps after a removal, sequencers do everything once`, {
  timeout: 180_000,
}, async (context) => {
  // Nothing is merged before it is removed.
  const { store, layer1, contracts, start, agree } = await openProcesses(context, 40, 600_000)
  const evaluator = createEvaluator({ threads: 1 })
  context.onTestFinished(() => evaluator.close())
  const administrator = openWallet({ layer1, keys: administratorKeys, evaluator, withholdMs: 500 })
  const key = keyOf(userSeed)
  const [coin] = fundsOf(key, 40, 10_000_000n)
  const sent = chain(key, coin!.reference, 10_000_000n, blocks)
  const headerHashes = async () =>
    (await queueOf(layer1, contracts)).blocks.map(({ headerHash }) => headerHash)

  let next = 0
  let active = await start(next++)
  let standby = start(next++)
  await until(async () => (await collect(store.utxoPages(key.address))).length > 0)
  for (const [place, transaction] of sent.entries()) {
    await accept(store, [transaction])
    await until(async () => (await store.blocks.byHeight(BigInt(place + 1)))?.state === 'committed')
  }
  const [first, second] = await headerHashes()
  const removal = removeBlock(contracts, await queueOf(layer1, contracts), second!)
  for (const step of steps) {
    const exit = once(active.child, 'exit')
    active.child.send(step)
    if (step === steps[0]) await administrator.send(removal)
    expect((await exit)[1], step).toBe('SIGKILL')
    active = await standby
    standby = start(next++)
  }
  await until(async () => {
    const isComplete =
      (await store.blocks.waiting(1)) === 0 && (await store.resubmissions.waiting(1)).length === 0
    return isComplete && (await store.blocks.newest())?.state === 'committed'
  })
  expect((await headerHashes())[0]).toEqual(first)
  for (const { id } of sent.slice(1)) {
    expect(await store.resubmissions.ofTransaction(fromHex(id))).toMatchObject([{ block: {} }])
  }
  for (const { child } of [active, await standby]) {
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }
  await agree(next - 2, sent)
})
