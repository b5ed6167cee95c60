import { once } from 'node:events'
import { chain, collect, fundsOf, keyOf } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import { accept } from './test/accept.js'
import { everythingMerged, until } from './test/agreement.js'
import { openProcesses, type Started } from './test/processes.js'
import { userSeed } from './test/rollup-contracts.js'
import type { Step } from './types.js'

const crashes = Number(process.env.RATATOSK_CRASHES ?? 0)
const funds = 40

/** Of init: with many crashes only, because each process takes its time to start. */
const beginning: readonly Step[] = [
  'genesis-applied',
  'scripts-published',
  'registry-created',
  'operator-registered',
  'root-minted',
]
/** After what is sent, and before what is stored of it. */
const fewest: readonly Step[] = ['commit-sent', 'merge-sent']
const all: readonly Step[] = [
  ...(crashes > 10 ? beginning : []),
  'roots-applied',
  'block-built',
  'commit-sent',
  'block-submitted',
  'block-committed',
  'block-mature',
  'merge-stored',
  'merge-sent',
  'block-merged',
]
const steps = crashes > 0 ? all : fewest

test(`killed at each of ${steps.length} steps and ${crashes} times at random, sequencers do all once`, {
  timeout: 240_000 + crashes * 10_000,
}, async (context) => {
  const { store, start, agree } = await openProcesses(context, funds, 1500)
  const key = keyOf(userSeed)
  const sent = fundsOf(key, funds, 10_000_000n).flatMap(({ reference }) =>
    chain(key, reference, 10_000_000n, 50),
  )
  let given = 0
  async function give(count: number): Promise<void> {
    await accept(store, sent.slice(given, given + count))
    given += count
  }

  let next = 0
  let active = await start(next++)
  let standby = start(next++)
  async function killed({ child, working }: Started, step: Step | number): Promise<void> {
    const exit = once(child, 'exit')
    if (typeof step === 'number') {
      await working
      // Accepted in the midst of what is going on.
      for (let part = 0; part < 3; part++) {
        await give(1)
        await new Promise((resolve) => setTimeout(resolve, step / 3))
      }
      child.kill('SIGKILL')
    } else {
      child.send(step)
      if (!beginning.includes(step)) {
        // Into a ledger that has its genesis.
        await until(async () => (await collect(store.utxoPages(key.address))).length > 0)
        await give(2)
      }
    }
    expect((await exit)[1]).toBe('SIGKILL')
  }

  const times = Array.from({ length: crashes }, () => Math.random() * 800)
  for (const step of [...steps, ...times]) {
    await killed(active, step)
    active = await standby
    standby = start(next++)
  }
  const last = await standby
  await killed(active, 1)
  await until(() => everythingMerged(store))
  last.child.kill('SIGKILL')
  await once(last.child, 'exit')
  await agree(next - 1, sent.slice(0, given))
  // How many there are depends on who was quicker.
  expect((await store.blocks.newest())!.height).toBeGreaterThan(1n)
})
