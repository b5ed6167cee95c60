import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { encodeHeader } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { devnetApis } from '@ratatosk/devnet'
import type { Contracts } from '@ratatosk/protocol'
import { openStore } from '@ratatosk/store'
import { databaseUrl, randomName } from '@ratatosk/test-kit'
import { needServices, removeTraces } from '@ratatosk/test-kit/vitest'
import fastify from 'fastify'
import { expect, type TestContext } from 'vitest'
import type { InvalidBlock } from '../../index.js'
import type { WatcherStep } from '../types.js'
import { openWatched, type Watched } from './scene.js'
import type { DisputedKind } from './watcher-process.js'

const program = fileURLToPath(new URL('../../../dist/watcher/test/watcher-process.js', import.meta.url))

/** A scene, and what starts watchers of it. */
export interface Processes extends Watched {
  start(kind: DisputedKind, block: InvalidBlock, killAt?: WatcherStep | ''): ChildProcess
  /** Kills a watcher at each step, the next one each time; returns the ids of recorded transactions. */
  killAtEach(
    kind: DisputedKind,
    block: InvalidBlock,
    steps: readonly WatcherStep[],
    before?: (step: WatcherStep) => Promise<void>,
  ): Promise<readonly Uint8Array[]>
  areIncluded(ids: readonly Uint8Array[]): Promise<boolean>
}

/** Watchers in processes of their own, beside a scene whose layer 1 they reach by its APIs. */
export async function openProcesses(context: TestContext, contracts?: Contracts): Promise<Processes> {
  await needServices(context)
  const schema = randomName()
  const store = await openStore({ url: databaseUrl, schema })
  const children: ChildProcess[] = []
  context.onTestFinished(async () => {
    for (const child of children) child.kill('SIGKILL')
    await store.close()
    await removeTraces(schema)
  })
  const watched = await openWatched({ store, ...(contracts && { contracts }) })
  const { devnet, layer1 } = watched.scene
  const server = fastify({ forceCloseConnections: true })
  context.onTestFinished(() => server.close())
  await server.register(devnetApis, { devnet })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })

  const start = (kind: DisputedKind, { header }: InvalidBlock, killAt: WatcherStep | '' = '') => {
    const block = toHex(encodeHeader(header))
    const child = fork(program, [schema, `${url}/kupo`, `${url}/ogmios`, block, kind, killAt])
    children.push(child)
    return child
  }
  const sent = async () => {
    const [verdict] = (await store.verdicts.list({ limit: 10 })).verdicts
    return (verdict?.transactions ?? []).map(({ id }) => id)
  }
  return {
    ...watched,
    start,

    async killAtEach(kind, block, steps, before = async () => undefined) {
      let recorded: readonly Uint8Array[] = []
      for (const step of steps) {
        await before(step)
        const [, signal] = await once(start(kind, block, step), 'exit')
        expect(signal, step).toBe('SIGKILL')
        const ids = await sent()
        expect(ids.slice(0, recorded.length), `nothing is replaced before ${step}`).toEqual(recorded)
        recorded = ids
      }
      return recorded
    },

    async areIncluded(ids) {
      const statuses = await Promise.all(ids.map((id) => layer1.status(id)))
      return statuses.every(({ kind }) => kind === 'confirmed')
    },
  }
}
