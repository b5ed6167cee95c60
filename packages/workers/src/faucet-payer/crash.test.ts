import { fork } from 'node:child_process'
import { on, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import { devnetApis } from '@ratatosk/devnet'
import { createSubmissionQueue, openQueueBackend } from '@ratatosk/queue'
import { openStore } from '@ratatosk/store'
import { createPGliteFiles, databaseUrl, randomName, redisUrl } from '@ratatosk/test-kit'
import { needServices, removeTraces } from '@ratatosk/test-kit/vitest'
import fastify from 'fastify'
import { afterAll, describe, expect, it, onTestFinished, type TestContext } from 'vitest'
import type { Services } from '../test/running-worker.js'
import type { Claiming } from './test/claiming-process.js'
import { endow, join, type Layer, layer1Of, layer2Of, openDevnet, validate } from './test/scene.js'
import { ada } from './test/wallets.js'

const rounds = Number(process.env.RATATOSK_CRASH_ROUNDS ?? 1)
const program = fileURLToPath(new URL('../../dist/faucet-payer/test/claiming-process.js', import.meta.url))
const funds = Array.from({ length: 3 }, () => 10_000n * ada)

const tooSoon = { status: 429, body: { code: 'COOLDOWN' } }

interface Database {
  readonly name: string
  readonly directory?: string
}

interface Network {
  readonly blockfrost?: string
  /** Opens the layer over the services of the process that takes over. */
  layer(services: Services): Promise<Layer>
}

const folder = await mkdtemp(joinPath(tmpdir(), 'ratatosk-faucet-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const places: Record<string, (context: TestContext) => Promise<Database>> = {
  PGlite: async () => {
    const directory = joinPath(folder, randomName())
    await createPGliteFiles(directory)
    return { name: 'crash', directory }
  },
  'PostgreSQL and Redis': async (context) => {
    await needServices(context)
    const name = randomName()
    onTestFinished(() => removeTraces(name))
    return { name }
  },
}

async function open({ name, directory }: Database): Promise<Services & { close(): Promise<void> }> {
  const pglite = directory === undefined ? undefined : await PGlite.create(directory)
  const store = await openStore(pglite ? { pglite, schema: name } : { url: databaseUrl, schema: name })
  const queue = await openQueueBackend(
    pglite ? { kind: 'pglite', pglite } : { kind: 'redis', url: redisUrl, prefix: name },
  )
  const close = async () => {
    await queue.close()
    await store.close()
    await pglite?.close()
  }
  return { store, queue, name, close }
}

const networks: Record<string, (place: Database) => Promise<Network>> = {
  'layer 1': async () => {
    const devnet = await openDevnet({ funds })
    const server = fastify({ forceCloseConnections: true })
    await server.register(devnetApis, { devnet })
    const url = await server.listen({ host: '127.0.0.1', port: 0 })
    onTestFinished(() => server.close())
    return { blockfrost: `${url}/blockfrost/api/v0`, layer: async () => layer1Of(devnet) }
  },
  'layer 2': async (place) => {
    const services = await open(place)
    await endow(services, funds)
    await services.close()
    return {
      async layer({ store, queue, name }) {
        const options = { maxAttempts: 5, lockDurationMs: 500 }
        validate({ store, queue, name }, options)
        return layer2Of({ store, submissions: createSubmissionQueue(queue) })
      },
    }
  },
}

function start(claiming: Claiming) {
  const child = fork(program, [JSON.stringify(claiming)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** A faucet in this process that takes over from those that were killed. */
async function takeOver(place: Database, network: Network) {
  const services = await open(place)
  onTestFinished(() => services.close())
  return join({ services, layer: await network.layer(services) })
}

/** A PGlite in a folder only where all stores are tested. */
const tested = Object.keys(places).filter(
  (place) => place !== 'PGlite' || process.env.RATATOSK_STORES === 'all',
)
const stages = tested.flatMap((place) => Object.keys(networks).map((network) => ({ place, network })))

describe.each(stages)('a faucet on $network with $place', ({ place: at, network: on }) => {
  it('pays once and keeps the cool-down when it is killed before it builds, sends or records a payment', {
    timeout: 120_000,
  }, async (context) => {
    const place = await places[at]!(context)
    const network = await networks[on]!(place)
    const { blockfrost } = network
    const [unprepared, unsent, unrecorded, another] = [0, 1, 2, 3]
    for (const [dies, claimants] of [
      ['unprepared', [unprepared, another]],
      ['unsent', [unsent]],
      ['unrecorded', [unrecorded]],
    ] as const) {
      const child = start({ ...place, ...(blockfrost && { blockfrost }), claimants, dies })
      const [, signal] = await once(child, 'exit')
      expect(signal).toBe('SIGKILL')
    }

    const scene = await takeOver(place, network)
    const { faucetClaims } = scene.services.store
    expect((await faucetClaims.underWay()).map(({ accepted }) => accepted)).toEqual([false, false])
    for (const number of [unsent, unrecorded]) {
      expect(await scene.claim(number, { key: 'another' })).toMatchObject(tooSoon)
    }
    const paid = [await scene.claim(unprepared), await scene.claim(unsent)]
    await scene.payer.settle()
    paid.push(await scene.claim(unrecorded))
    expect(paid.map(({ status }) => status)).toEqual([200, 200, 200])
    // This claim was never paid, so the address may use another key once the lease of the killed process has
    // ended.
    await expect.poll(async () => (await scene.claim(another, { key: 'another' })).status).toBe(200)
    expect(await scene.claim(another)).toMatchObject(tooSoon)

    expect(await Promise.all([0, 1, 2].map((number) => scene.claim(number)))).toEqual(paid)
    for (const number of [0, 1, 2, 3]) {
      expect(await scene.paidTo(number)).toEqual([100n * ada])
      expect(await scene.claim(number, { key: 'a third' })).toMatchObject(tooSoon)
    }
  })
})

describe.each(Object.keys(networks))('a faucet on %s', (layer) => {
  it(`pays each claim once when it is killed (${rounds}×) during its claims`, {
    timeout: 30_000 + rounds * 10_000,
  }, async (context) => {
    const place = await places['PostgreSQL and Redis']!(context)
    const network = await networks[layer]!(place)
    const { blockfrost } = network
    const perRound = 10
    for (let round = 0; round < rounds; round++) {
      // The claimants of the previous round again, and as many new ones.
      const first = Math.max(0, round - 1) * perRound
      const claimants = Array.from({ length: (round + 1) * perRound - first }, (_, n) => first + n)
      const child = start({ ...place, ...(blockfrost && { blockfrost }), claimants })
      const enough = Math.ceil(Math.random() * (claimants.length - 1))
      let ended = 0
      for await (const _ of on(child, 'message')) if (++ended >= enough) break
      child.kill('SIGKILL')
      await once(child, 'exit')
    }

    const scene = await takeOver(place, network)
    await scene.payer.settle()
    const numbers = Array.from({ length: rounds * perRound }, (_, n) => n)
    const answers = await Promise.all(numbers.map((number) => scene.claim(number)))
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    for (const number of numbers) expect(await scene.paidTo(number)).toEqual([100n * ada])
  })
})
