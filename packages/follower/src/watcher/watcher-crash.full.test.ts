import { expect, test } from 'vitest'
import { summonsContracts } from '../../../protocol/dist/test/protocol-scene.js'
import { subjectOf } from './context.js'
import { largeLie, ofLie } from './test/lies.js'
import { openProcesses } from './test/processes.js'
import { bond, openOperator, until } from './test/scene.js'
import type { WatcherStep } from './types.js'

/** In the order in which they follow a finding. */
const steps: readonly WatcherStep[] = [
  'found',
  'datum-recorded',
  'datum-sent',
  'removal-recorded',
  'removal-sent',
  'removed',
  'prune-recorded',
  'prune-sent',
]

test(`killed at each of ${steps.length} steps, a watcher does everything once`, {
  timeout: 240_000,
}, async (context) => {
  const { scene, story, store, commit, commitNext, queued, ...watched } = await openProcesses(context)
  const { otherWallet } = scene
  const block = await commit(largeLie(story))
  await commitNext()
  const before = (await otherWallet.balance()).lovelace
  const recorded = await watched.killAtEach('invalid', block, steps)
  const last = watched.start('invalid', block)
  await until('the queue is empty', async () => (await queued()).length === 0)
  await until('everything is included', () => watched.areIncluded(recorded))
  await new Promise((resolve) => setTimeout(resolve, 2000))
  last.kill('SIGKILL')

  const { verdicts } = await store.verdicts.list({ limit: 10 })
  expect(verdicts).toMatchObject([
    { state: 'removed', transactions: [{ stage: 'datum' }, { stage: 'removal' }, { stage: 'prune' }] },
  ])
  const fees = verdicts[0]!.transactions.reduce((sum, { fee }) => sum + fee, 0n)
  const gain = (await otherWallet.balance()).lovelace - before + fees
  expect(gain).toBeGreaterThan(bond)
  // The ada of two elements, and no other datum is paid for.
  expect(gain).toBeLessThan(bond + 20_000_000n)
  expect((await scene.registry()).datum.operators).toEqual([])
})

const silentSteps: readonly WatcherStep[] = [
  'unavailable',
  'question-recorded',
  'question-sent',
  'verdict-recorded',
  'verdict-sent',
  'removal-recorded',
  'removal-sent',
  'removed',
]

test('killed at each step of asking for a body, a watcher asks and removes once', {
  timeout: 240_000,
}, async (context) => {
  const { store, story, ...watched } = await openProcesses(context, summonsContracts)
  const block = await watched.commit(ofLie('wrongOutputsAfter', story))
  const { period } = summonsContracts.parameters.summons!
  const isExpiring = (step: WatcherStep) => step === 'verdict-recorded'
  const recorded = await watched.killAtEach('withheld', block, silentSteps, async (step) => {
    if (isExpiring(step)) await watched.pass(2n * period)
  })
  expect(await watched.areIncluded(recorded)).toBe(true)
  const { verdicts } = await store.verdicts.list({ limit: 10 })
  const stages = verdicts[0]!.transactions.map(({ stage }) => stage)
  expect(verdicts).toMatchObject([{ state: 'removed', proof: { policy: 'summons', fraud: 'unanswered' } }])
  expect(stages).toEqual(['question', 'verdict', 'removal'])
  expect((await watched.scene.registry()).datum.operators).toEqual([])
})

const hiddenSteps: readonly WatcherStep[] = [
  'found',
  'question-recorded',
  'question-sent',
  'answered',
  'removal-recorded',
  'removal-sent',
  'removed',
]

test('killed at each step of a search for a false root, a watcher asks and removes once', {
  timeout: 240_000,
}, async (context) => {
  const { store, story, ...watched } = await openProcesses(context, summonsContracts)
  const committed = ofLie('wrongOutputsAfter', story)
  const block = await watched.commit(committed)
  const { answered } = await openOperator({ ...watched, store, story }, committed)
  const recorded = await watched.killAtEach('hidden', block, hiddenSteps)
  expect(await watched.areIncluded(recorded)).toBe(true)
  const { verdicts } = await store.verdicts.list({ limit: 10 })
  expect(verdicts).toMatchObject([
    { state: 'removed', proof: { policy: 'ledger', fraud: 'wrongOutputsAfter' } },
  ])
  const stages = verdicts[0]!.transactions.map(({ stage }) => stage)
  expect(stages).toEqual([...stages.slice(1).map(() => 'question'), 'removal'])
  expect(new Set(answered.map(subjectOf)).size).toBe(answered.length)
})
