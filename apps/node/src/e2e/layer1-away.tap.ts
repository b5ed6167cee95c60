import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@ratatosk/test-kit'
import { type Answer, ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { anyPlacement, embedded, onServices, type Placement } from '../test/backends.js'
import { devnetServer } from '../test/forged-block.js'
import { initialised, runNode } from '../test/node.js'
import { spawnNode } from '../test/node-process.js'

t.setTimeout(300_000)

const reads = [
  '/stateQueue',
  '/stateQueue/root-unit-diagnostics',
  '/commitment-wallet/balance',
  '/operators',
  '/summons',
]
const json = ({ status, body }: Answer) => ({ status, body: JSON.parse(body) })
const services = await onServices()
const patient = { timeoutMs: 120_000 }
const isReady = async (url: string) => (await ask(`${url}/health/ready`)).status === 200
/** Whether a devnet answers there. */
const isDevnet = async (url: string) =>
  (await ask(`${url}/blockfrost/api/v0/blocks/latest`).catch(() => undefined))?.status === 200

/** A process that hosts the devnet of a placement at a port, and the archivist of another machine. */
async function leaderAndArchivist(t: Parameters<typeof runNode>[0], placement: Placement) {
  const [port, devnetPort] = [await freePort(), await freePort()]
  const leader = await spawnNode(t, { ...placement, PORT: port, DEVNET_PORT: devnetPort })
  await initialised(leader.url)
  const archivist = await runNode(t, {
    ...(await embedded(t)),
    NODE_ROLE: 'archivist',
    ARCHIVIST_PEERS: `${leader.url}/archivist`,
    LAYER1_PROVIDER: 'blockfrost',
    BLOCKFROST_URL: `http://127.0.0.1:${devnetPort}/blockfrost/api/v0`,
  })
  await until(() => isReady(archivist.url), { what: 'the archivist is ready', ...patient })
  return { leader, archivist, devnetPort }
}

t.test('a standby continues the devnet where others look for it', { skip: services.skip }, async (t) => {
  const placement = await services.place(t)
  const { leader, archivist, devnetPort } = await leaderAndArchivist(t, placement)
  const standby = await runNode(t, placement)
  await leader.stop('SIGKILL')
  await until(async () => /The devnet at http/.test((await ask(`${standby.url}/health/ready`)).body), {
    what: 'the standby names the devnet that does not answer',
  })
  await until(() => isDevnet(`http://127.0.0.1:${devnetPort}`), {
    what: 'the standby hosts the devnet at the same port',
    ...patient,
  })
  await until(() => isReady(archivist.url), { what: 'the archivist is ready again', ...patient })
  await until(() => isReady(standby.url), { what: 'the standby is ready', ...patient })

  const again = await spawnNode(t, { ...placement, DEVNET_PORT: String(devnetPort) })
  t.ok(await isReady(again.url), 'the former leader starts as the standby')
})

t.test(
  'a port that another program has taken does not keep a standby from it',
  {
    skip: services.skip,
  },
  async (t) => {
    const placement = await services.place(t)
    const [port, devnetPort] = [await freePort(), await freePort()]
    const leader = await spawnNode(t, { ...placement, PORT: port, DEVNET_PORT: devnetPort })
    await initialised(leader.url)
    await leader.stop('SIGTERM')
    const occupied = createServer()
    await new Promise<void>((resolve) => occupied.listen(Number(devnetPort), '127.0.0.1', resolve))
    t.teardown(() => occupied.close())
    const standby = await spawnNode(t, placement)
    await until(() => isReady(standby.url), { what: 'the standby is ready', ...patient })
    const [, url = ''] = /"devnet":"([^"]+)"/.exec(standby.output()) ?? []
    t.ok(await isDevnet(url), 'it hosts the devnet at another port')
    t.match(standby.output(), new RegExp(`"port":${devnetPort}.*DEVNET_PORT`), 'and says so')
  },
)

t.test(
  'while the layer-1 provider fails, reads report the cause, readiness names it, and nothing is lost',
  async (t) => {
    const layer1 = await devnetServer(t)
    const node = await runNode(t, {
      ...(await anyPlacement(t)),
      ...layer1.settings,
      BLOCK_VALIDITY_MS: '10000',
      HEALTH_PROBE_TIMEOUT_MS: '1000',
    })
    const get = async (path: string) => json(await ask(`${node.url}${path}`))
    await initialised(node.url)

    layer1.devnet.faults.inject({ kind: 'failure', target: 'blockfrost', times: Number.POSITIVE_INFINITY })
    for (const path of reads) {
      // Reads are shared for some seconds.
      await until(async () => (await get(path)).status === 503, { what: `${path} fails` })
      t.match(
        await get(path),
        { status: 503, body: { status: 'error', error: String, cause: 'provider error' } },
        path,
      )
    }
    t.match(await get('/commit'), { status: 503, body: { status: 'error', cause: 'provider error' } })
    await until(async () => (await get('/health/ready')).status === 503)
    t.match(await get('/health/ready'), {
      status: 503,
      body: {
        failing: ['layer1'],
        reasons: { layer1: /^(Blockfrost answered 5\d\d|Layer 1 does not answer in time)$/ },
      },
    })
    t.equal((await get('/health/live')).status, 200)

    layer1.devnet.faults.clear()
    for (const path of reads) {
      await until(async () => (await get(path)).status === 200, { what: `${path} works again` })
    }
    await until(async () => (await get('/health/ready')).status === 200)
    await until(async () => (await get('/commit')).status === 200)
  },
)

t.test('an api node reports in time that no sequencer runs', { skip: services.skip }, async (t) => {
  const layer1 = await devnetServer(t)
  const placement = await services.place(t)
  const run = (environment: Record<string, string>) =>
    runNode(t, { ...placement, ...layer1.settings, ...environment })
  const api = await run({ NODE_ROLE: 'api', OPERATION_TIMEOUT_MS: '1000' })
  const late = json(await ask(`${api.url}/commit`))
  t.equal(late.status, 504)
  t.type(late.body.error, 'string')

  const sequencer = await run({ NODE_ROLE: 'sequencer', BLOCK_VALIDITY_MS: '10000' })
  const patient = await run({ NODE_ROLE: 'api' })
  await initialised(patient.url)
  t.same(json(await ask(`${patient.url}/commit`)), {
    status: 200,
    body: { message: 'Nothing to commit', transactions: 0 },
  })
  t.equal(await sequencer.store.blocks.newest(), undefined, 'what came too late did not run')
})

t.test(
  'a devnet that no process hosts is reported as unreachable, not as an internal error',
  { skip: services.skip },
  async (t) => {
    const placement = await services.place(t)
    const api = await runNode(t, { ...placement, NODE_ROLE: 'api', HEALTH_PROBE_TIMEOUT_MS: '500' })
    t.match(json(await ask(`${api.url}/health/ready`)), {
      status: 503,
      body: { failing: ['layer1'], reasons: { layer1: /^No process hosts the devnet\. Start one/ } },
    })
    t.match(json(await ask(`${api.url}/commitment-wallet/balance`)), {
      status: 503,
      body: { status: 'error', cause: 'unreachable' },
    })
    await runNode(t, { ...placement, NODE_ROLE: 'sequencer' })
    await until(async () => (await ask(`${api.url}/health/ready`)).status === 200)
    // The failed read of the balance is shared for a moment, like any other read.
    await until(async () => (await ask(`${api.url}/commitment-wallet/balance`)).status === 200)
  },
)

t.test(
  'a process that cannot listen at DEVNET_PORT says so once, and hosts the devnet when it can',
  { skip: services.skip },
  async (t) => {
    const occupied = createServer()
    await new Promise<void>((resolve) => occupied.listen(0, '127.0.0.1', resolve))
    t.teardown(() => occupied.close())
    const { port } = occupied.address() as AddressInfo
    const node = await spawnNode(t, { ...(await services.place(t)), DEVNET_PORT: String(port) })
    const ready = async () => json(await ask(`${node.url}/health/ready`))
    const fault = `DEVNET_PORT is ${port}: another process listens on this port.`
    t.match(await ready(), { status: 503, body: { reasons: { layer1: fault } } })
    await sleep(5000)
    const warnings = node.output().match(/failed to host the devnet; it retries: DEVNET_PORT is/g)
    t.equal(warnings?.length, 1)
    t.notMatch(node.output(), 'Start one with NODE_ROLE')
    occupied.close()
    await until(async () => (await ready()).status === 200)
  },
)
