import { toHex } from '@ratatosk/cbor'
import { outputReferenceKey } from '@ratatosk/ledger'
import { readQuestions } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { summonsContracts as contracts } from '../../../protocol/dist/test/protocol-scene.js'
import type { SummonResult, Watcher, WatcherStep } from './index.js'
import { honest } from './test/lies.js'
import { openWatched, openWatcher, until, type Watched } from './test/scene.js'

const timeout = 120_000
const withheld = { judge: async () => Promise.reject(new Error('There is no body')) }
/** Longer than a test: nothing is asked without a summons. */
const patienceMs = Number(contracts.parameters.maturityWindow)
const { period } = contracts.parameters.summons!
const questions = async ({ scene }: Watched) =>
  readQuestions(contracts, await scene.layer1.utxosByPolicy(contracts.summons!.policy))
const newest = async ({ store }: Watched) => (await store.verdicts.list({ limit: 1 })).verdicts[0]

/** Summons once the watcher lacks the body. */
async function summon({ summon }: Watcher, headerHash: Uint8Array, chunk = 0): Promise<SummonResult> {
  let result: SummonResult = { kind: 'busy' }
  await until('the body is missing', async () => {
    result = await summon({ headerHash, chunk })
    return !(result.kind === 'refused' && result.reason.startsWith('Not missing'))
  })
  return result
}

test('a summons is asked at once and once, and silence removes the block', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const block = await watched.commit(honest(watched.story))
  const { headerHash } = block
  const steps: WatcherStep[] = []
  const observer = { step: (name: WatcherStep) => void steps.push(name) }
  const { watcher } = openWatcher(watched, [block], { withheld, patienceMs, observer })
  expect(await watcher.summon({ headerHash: new Uint8Array(28), chunk: 0 })).toEqual({ kind: 'absent' })
  const first = summon(watcher, headerHash)
  const asked = await first
  if (asked.kind !== 'asked') throw new Error(JSON.stringify(asked))
  const again = await Promise.all([summon(watcher, headerHash), summon(watcher, headerHash)])
  expect(again).toEqual([
    { kind: 'refused', reason: 'Already asked' },
    { kind: 'refused', reason: 'Already asked' },
  ])
  await until('layer 1 has it', async () => (await questions(watched)).length === 1)
  const [open] = await questions(watched)
  expect(outputReferenceKey(open!.utxo.reference)).toBe(asked.question)
  expect(open!.question).toMatchObject({ kind: 'chunk', deadline: asked.deadline })
  expect(await newest(watched)).toMatchObject({ transactions: [{ id: asked.transactionId }] })
  expect(steps.indexOf('question-recorded')).toBeLessThan(steps.indexOf('question-sent'))
  await watched.pass(2n * period)
  const isRemoved = async () => (await newest(watched))?.state === 'removed'
  await until('it is removed', isRemoved)
  expect(await summon(watcher, headerHash)).toEqual({ kind: 'absent' })
})

test('a watcher that is killed after it has recorded a summons sends it, once', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const block = await watched.commit(honest(watched.story))
  const resume = await watched.stopMining()
  const layer1: typeof watched.scene.layer1 = {
    ...watched.scene.layer1,
    submit: async () => Promise.reject(new Error('The process is killed')),
  }
  const first = openWatcher(watched, [block], { withheld, patienceMs, layer1 })
  await expect(summon(first.watcher, block.headerHash)).rejects.toThrow('The process is killed')
  await first.close()
  const recorded = (await newest(watched))!.transactions
  expect(recorded).toMatchObject([{ stage: 'question' }])
  resume()
  const { watcher } = openWatcher(watched, [block], { withheld, patienceMs })
  await until('it is sent', async () => (await questions(watched)).length === 1)
  const [open] = await questions(watched)
  expect(toHex(open!.utxo.reference.transactionId)).toBe(toHex(recorded[0]!.id))
  expect(await summon(watcher, block.headerHash)).toEqual({ kind: 'refused', reason: 'Already asked' })
})

test('a summons is refused that ends too late, exceeds the budget, or waits behind many', {
  timeout,
}, async () => {
  const watched = await openWatched({ contracts })
  const block = await watched.commit(honest(watched.story))
  const { headerHash } = block
  const options = { withheld, patienceMs }
  const poor = openWatcher(watched, [block], { ...options, maxLovelacePerHour: 2_000_000n })
  expect(await summon(poor.watcher, headerHash)).toMatchObject({
    kind: 'refused',
    reason: expect.stringMatching(/^Not sent: .* of 2000000 are left in this hour$/),
  })
  expect(await questions(watched)).toEqual([])
  await poor.close()
  await expect(poor.watcher.summon({ headerHash, chunk: 0 })).rejects.toThrow('The watcher is closed')

  await watched.pass(contracts.parameters.maturityWindow - 2n * period)
  const { watcher } = openWatcher(watched, [block], options)
  // Not before a block shows the time.
  await until('it is too late', async () => {
    const result = await summon(watcher, headerHash)
    return result.kind === 'refused' && result.reason.startsWith('Too late: ')
  })
  const client = new AbortController()
  const many = Array.from({ length: 17 }, () => watcher.summon({ headerHash, chunk: 0 }, client.signal))
  client.abort(new Error('The client is gone'))
  expect(await many.at(-1)).toEqual({ kind: 'busy' })
  const ended = await Promise.allSettled(many)
  expect(ended.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(10)
})
