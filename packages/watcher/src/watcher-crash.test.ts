import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { encodeHeader } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { devnetApis } from '@ratatosk/devnet'
import { openStore } from '@ratatosk/store'
import { databaseUrl, randomName } from '@ratatosk/test-kit'
import { needServices, removeTraces } from '@ratatosk/test-kit/vitest'
import fastify from 'fastify'
import { afterAll, expect, test } from 'vitest'
import { largeLie } from './test/lies.js'
import { bond, evaluator, openWatched, until } from './test/scene.js'
import type { WatcherStep } from './types.js'

afterAll(() => evaluator.close())

const program = fileURLToPath(new URL('../dist/test/watcher-process.js', import.meta.url))

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
  await needServices(context)
  const schema = randomName()
  const store = await openStore({ url: databaseUrl, schema })
  const children: ChildProcess[] = []
  context.onTestFinished(async () => {
    for (const child of children) child.kill('SIGKILL')
    await store.close()
    await removeTraces(schema)
  })
  const { scene, story, commit, commitNext, queued } = await openWatched({ store })
  const { devnet, layer1, otherWallet } = scene
  const server = fastify({ forceCloseConnections: true })
  context.onTestFinished(() => server.close())
  await server.register(devnetApis, { devnet })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  const block = await commit(largeLie(story))
  await commitNext()
  const before = (await otherWallet.balance()).lovelace

  const start = (killAt: string) => {
    const header = toHex(encodeHeader(block.header))
    const child = fork(program, [schema, `${url}/kupo`, `${url}/ogmios`, header, killAt])
    children.push(child)
    return child
  }
  const sent = async () => (await store.verdicts.list({ limit: 10 })).verdicts[0]?.transactions ?? []
  let recorded: string[] = []
  for (const step of steps) {
    const [, signal] = await once(start(step), 'exit')
    expect(signal, step).toBe('SIGKILL')
    const ids = (await sent()).map(({ id }) => toHex(id))
    expect(ids.slice(0, recorded.length), `nothing is replaced before ${step}`).toEqual(recorded)
    recorded = ids
  }
  const last = start('')
  await until('the queue is empty', async () => (await queued()).length === 0)
  const included = async () => {
    const statuses = await Promise.all(recorded.map((id) => layer1.status(id)))
    return statuses.every(({ kind }) => kind === 'confirmed')
  }
  await until('everything is included', included)
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
