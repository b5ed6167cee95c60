import { once } from 'node:events'
import { keyAuthority, openWallet } from '@ratatosk/layer1'
import type { WalletKeys } from '@ratatosk/ledger/builder'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { openStore } from '@ratatosk/store'
import { chain, databaseUrl, fundsOf, keyOf, randomName, type SignedTransaction } from '@ratatosk/test-kit'
import { removeTraces } from '@ratatosk/test-kit/vitest'
import { expect, test } from 'vitest'
import { accept } from './test/accept.js'
import { until } from './test/agreement.js'
import { expectSameBlocks, serveBlocks } from './test/operators.js'
import { openProcesses } from './test/processes.js'
import { openRollup } from './test/rollup.js'
import { administratorKeys, operatorKeys, userSeed } from './test/rollup-contracts.js'
import type { Step } from './types.js'

/** The number of statements that one adoption sends to the database, with those of other work in between. */
const sendings = 45
const crashes = Number(process.env.RATATOSK_CRASHES ?? 3)
const steps: readonly Step[] = ['roots-applied', 'block-judged', 'block-adopted']
const points: readonly (Step | number)[] = [
  ...steps,
  ...(crashes > 10
    ? Array.from({ length: sendings }, (_, n) => n)
    : Array.from({ length: crashes }, () => Math.floor(Math.random() * sendings))),
]
const funds = 3 * (points.length + 1)

test(`killed at ${points.length} steps and statements of adoptions, sequencers adopt each block once`, {
  timeout: 180_000 + points.length * 30_000,
}, async (context) => {
  let peer = ''
  const scene = await openProcesses(context, funds, 600_000, undefined, () => peer)
  const { store, layer1, contracts, start, agree } = scene
  const evaluator = createEvaluator({ threads: 1 })
  context.onTestFinished(() => evaluator.close())
  const name = randomName()
  const theirs = await openStore({ url: databaseUrl, schema: name })
  context.onTestFinished(async () => {
    await theirs.close()
    await removeTraces(name)
  })
  peer = await serveBlocks(context, theirs)
  const key = keyOf(userSeed)
  const genesis = fundsOf(key, funds, 10_000_000n)
  const wallet = (keys: WalletKeys) => openWallet({ layer1, keys, evaluator, withholdMs: 500 })
  const { sequencer } = await openRollup(context, theirs, layer1, {
    contracts,
    genesis,
    operator: wallet(operatorKeys),
    administrator: { wallet: wallet(administratorKeys), authority: keyAuthority(administratorKeys.payment) },
    autoCommit: true,
    commitEveryMs: 100,
    pollMs: 50,
    blockValidityMs: 3000,
  })
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })

  let next = 0
  let active = await start(next++)
  let standby = start(next++)
  await active.working
  await until(async () => (await store.changes.genesisOutputs()) === funds)
  const kept: SignedTransaction[] = []
  for (const [place, point] of points.entries()) {
    const [first, second, third] = genesis.slice(3 * place, 3 * place + 3).map(({ reference }) => reference)
    const [conflict] = chain(key, first!, 9_999_999n, 1) as [SignedTransaction]
    const block = [...chain(key, first!, 10_000_000n, 2), ...chain(key, second!, 10_000_000n, 2)]
    const mine = chain(key, third!, 10_000_000n, 2)
    await accept(store, [conflict, ...block.slice(2, 3), ...mine])
    kept.push(...mine)
    const exit = once(active.child, 'exit')
    active.child.send(String(point))
    await accept(theirs, block)
    // The last statements may come after the adoption: then it is killed at none.
    const isAdopted = async () => (await store.rejections.list()).length > place
    await Promise.race([exit, until(isAdopted, 60_000)])
    if (active.child.exitCode === null && active.child.signalCode === null) active.child.kill('SIGKILL')
    expect((await exit)[1], String(point)).toBe('SIGKILL')
    active = await standby
    standby = start(next++)
    await until(isAdopted)
    expect(await store.rejections.list()).toHaveLength(place + 1)
  }
  for (const { child } of [active, await standby]) {
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }
  await sequencer.close()
  await expectSameBlocks([
    { store, name: scene.name },
    { store: theirs, name },
  ])
  const inBlocks: SignedTransaction[] = []
  for (const { headerHash } of await store.blocks.range(1n, 1_000n))
    for (const { id, cbor } of await store.blocks.transactionsOf(headerHash))
      inBlocks.push({ id: Buffer.from(id).toString('hex'), cbor })
  expect(inBlocks).toHaveLength(4 * points.length)
  await agree(next - 2, [...inBlocks, ...kept])
})
