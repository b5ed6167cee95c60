import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDevnet, devnetFaces, testGenesis } from '@ratatosk/devnet'
import { createDevnetLayer1 } from '@ratatosk/layer1'
import { openStore, type Store } from '@ratatosk/store'
import { databaseUrl, randomName } from '@ratatosk/test-services'
import fastify from 'fastify'
import { expect, type TestContext, test } from 'vitest'
import { openRoots } from '../roots/open-roots.js'
import { everythingMerged, expectAgreement, until } from '../test/agreement.js'
import type { SignedTransaction } from '../test/midgard.js'
import { accept } from '../test/rollup.js'
import { contractsOf, userSeed } from '../test/rollup-contracts.js'
import { needServices, removeTraces } from '../test/services.js'
import { chain, fundsOf, keyOf } from '../test/transfers.js'
import type { Step } from './types.js'

const crashes = Number(process.env.RATATOSK_CRASHES ?? 3)
const program = fileURLToPath(new URL('../../dist/test/sequencer-process.js', import.meta.url))
const funds = 40

/** Of init: with many crashes only, because each process takes its time to start. */
const beginning: readonly Step[] = [
  'genesis-applied',
  'scripts-published',
  'registry-begun',
  'operator-registered',
  'root-minted',
]
const steps: readonly Step[] = [
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

interface Started {
  readonly child: ChildProcess
  /** Resolves when it has the lease. */
  readonly working: Promise<unknown>
}

interface Scene {
  readonly store: Store
  start(child: number): Promise<Started>
  agree(child: number, accepted: readonly SignedTransaction[]): Promise<void>
}

async function openScene(context: TestContext): Promise<Scene> {
  await needServices(context)
  const schema = randomName()
  const store = await openStore({ url: databaseUrl, schema })
  const genesis = { ...testGenesis(), startTime: Math.floor(Date.now() / 1000) * 1000 - 60_000 }
  const devnet = await createDevnet({ genesis, slotLengthMs: 100, blockEveryMs: 100 })
  const server = fastify({ forceCloseConnections: true })
  await server.register(devnetFaces, { devnet })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-roots-'))
  const children: ChildProcess[] = []
  context.onTestFinished(async () => {
    for (const child of children) child.kill('SIGKILL')
    await server.close()
    await devnet.close()
    await store.close()
    await removeTraces(schema)
    await rm(folder, { recursive: true })
  })
  // Two at a time, each with the folder of the last but one before it, as that one left it.
  const rootsOf = (child: number) => join(folder, `${child % 2}`)
  return {
    store,
    async start(child) {
      const process = fork(
        program,
        [schema, `${url}/kupo`, `${url}/ogmios`, rootsOf(child), `sequencer-${child}`, `${funds}`],
        { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
      )
      children.push(process)
      const [message] = await once(process, 'message')
      expect(message).toBe('ready')
      return { child: process, working: once(process, 'message') }
    },
    async agree(child, accepted) {
      const roots = await openRoots({ path: rootsOf(child) })
      try {
        await expectAgreement(store, createDevnetLayer1(devnet), roots, accepted, contractsOf(1500n))
      } finally {
        await roots.close()
      }
    },
  }
}

test(`killed at each of ${steps.length} steps, and ${crashes} times at random, sequencers lose nothing and do nothing twice`, {
  timeout: 120_000 + crashes * 10_000,
}, async (context) => {
  const { store, start, agree } = await openScene(context)
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
        await until(async () => (await store.utxosAt(key.address)).length > 0)
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
