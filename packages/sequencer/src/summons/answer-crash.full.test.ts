import { once } from 'node:events'
import { toHex } from '@ratatosk/cbor'
import { openWallet } from '@ratatosk/layer1'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { chain, collect, fundsOf, keyOf } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import { accept } from '../test/accept.js'
import { until } from '../test/agreement.js'
import { chunkOf, openAsker, referenceOf } from '../test/asking.js'
import { openProcesses } from '../test/processes.js'
import { administratorKeys, userSeed } from '../test/rollup-contracts.js'
import type { Step } from '../types.js'

/** In the order in which they follow a question. */
const steps: readonly Step[] = ['answer-recorded', 'answer-sent']

test('killed between a question and its answer, sequencers answer once, with what was recorded', {
  timeout: 180_000,
}, async (context) => {
  const { store, layer1, contracts, start } = await openProcesses(context, 40, 600_000, 'summons')
  const evaluator = createEvaluator({ threads: 1 })
  context.onTestFinished(() => evaluator.close())
  const key = keyOf(userSeed)
  const [coin] = fundsOf(key, 40, 10_000_000n)

  let next = 0
  let active = await start(next++)
  let standby = start(next++)
  await until(async () => (await collect(store.utxoPages(key.address))).length > 0)
  await accept(store, chain(key, coin!.reference, 10_000_000n, 3))
  await until(async () => (await store.blocks.newest())?.state === 'committed')
  const block = (await store.blocks.newest())!
  const wallet = openWallet({ layer1, keys: administratorKeys, evaluator, withholdMs: 500 })
  const asker = await openAsker(store, layer1, wallet, contracts)
  for (const [number, step] of steps.entries()) {
    const exit = once(active.child, 'exit')
    active.child.send(step)
    const asked = await asker.ask(block, chunkOf(block, number), (await layer1.tip()).slot + 300n)
    expect((await exit)[1], step).toBe('SIGKILL')
    const [recorded] = await asker.answersTo(asked)
    active = await standby
    standby = start(next++)
    await until(async () => !(await asker.open()).includes(referenceOf(asked)))
    const [sent] = await asker.answersTo(asked)
    expect(toHex(sent!.id)).toBe(toHex(recorded!.id))
    expect((await layer1.status(sent!.id)).kind).toBe('confirmed')
  }

  for (const { child } of [active, await standby]) child.kill('SIGKILL')
})
