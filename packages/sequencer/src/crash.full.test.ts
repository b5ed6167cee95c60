import { once } from 'node:events'
import { fromHex, toHex } from '@ratatosk/cbor'
import { keyAuthority, openWallet } from '@ratatosk/layer1'
import type { WalletKeys } from '@ratatosk/ledger/builder'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { removeBlock } from '@ratatosk/protocol'
import { openStore } from '@ratatosk/store'
import {
  chain,
  collect,
  databaseUrl,
  fundsOf,
  keyOf,
  randomName,
  type SignedTransaction,
} from '@ratatosk/test-kit'
import { removeTraces } from '@ratatosk/test-kit/vitest'
import { describe, expect, test } from 'vitest'
import { accept } from './test/accept.js'
import { until } from './test/agreement.js'
import { chunkOf, openAsker, referenceOf } from './test/asking.js'
import { expectSameBlocks, serveBlocks } from './test/operators.js'
import { openProcesses } from './test/processes.js'
import { openRollup, queueOf } from './test/rollup.js'
import { administratorKeys, operatorKeys, userSeed } from './test/rollup-contracts.js'
import type { Step } from './types.js'

describe('a removal', () => {
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
})

describe('an adoption', () => {
  /** The number of statements that an adoption sends to the database, with those of other work between. */
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
      administrator: {
        wallet: wallet(administratorKeys),
        authority: keyAuthority(administratorKeys.payment),
      },
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
})

describe('an answer', () => {
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
})
