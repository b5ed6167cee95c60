import { createServer } from 'node:net'
import { freePort } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { embedded, onServices, type Placement } from '../test/backends.js'
import { initialised, runNode } from '../test/node.js'
import { spawnNode } from '../test/node-process.js'

t.setTimeout(300_000)

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
