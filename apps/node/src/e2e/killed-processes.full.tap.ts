import { openStore, type Store } from '@ratatosk/store'
import { collect, freePort } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { onServices, temporaryDirectory } from '../test/backends.js'
import { keepAliveClient } from '../test/node.js'
import { spawnNode } from '../test/node-process.js'
import { manyTransfers } from '../test/transfer.js'

// Six processes start, and each starts once more.
t.setTimeout(600_000)

const services = await onServices()
const patient = { timeoutMs: 300_000 }
const atOnce = 20
const perKill = 200

t.test(
  'each process of compose.yaml is killed under load, and nothing is lost',
  {
    skip: services.skip,
  },
  async (t) => {
    const placement = await services.place(t)
    const [sequencerPort, devnetPort] = [await freePort(), await freePort()]
    const roles: readonly (readonly [string, Record<string, string>])[] = [
      [
        'sequencer',
        { PORT: String(sequencerPort), DEVNET_PORT: String(devnetPort), SEQUENCER_LEASE_MS: '4000' },
      ],
      ['api', { PORT: String(await freePort()) }],
      ['api', { PORT: String(await freePort()) }],
      ['tx-processor', {}],
      [
        'archivist',
        {
          ARCHIVIST_PEERS: `http://127.0.0.1:${sequencerPort}/archivist`,
          LAYER1_PROVIDER: 'blockfrost',
          BLOCKFROST_URL: `http://127.0.0.1:${devnetPort}/blockfrost/api/v0`,
        },
      ],
    ]
    const { genesisFile, transfers } = await manyTransfers(t, perKill * roles.length)
    const start = async ([role, environment]: (typeof roles)[number], directory: string) =>
      spawnNode(t, {
        ...(role !== 'archivist' && placement),
        NODE_ROLE: role,
        DATA_DIR: directory,
        GENESIS_FILE: genesisFile,
        MATURITY_WINDOW_MS: '600000',
        ...environment,
      })
    const directories = await Promise.all(roles.map(() => temporaryDirectory(t)))
    const processes = []
    for (const [n, role] of roles.entries()) processes.push(await start(role, directories[n] ?? ''))

    const store = await openStore({
      url: placement.DATABASE_URL ?? '',
      schema: placement.DATABASE_SCHEMA ?? '',
    })
    t.teardown(() => store.close())

    const apis = processes.filter((_, n) => roles[n]?.[0] === 'api').map(({ url }) => url)
    for (const [n, role] of roles.entries()) {
      const load = submitAll(t, apis, transfers.slice(n * perKill, (n + 1) * perKill))
      await until(async () => load.taken() >= perKill / 4, patient)
      t.equal(await processes[n]?.stop('SIGKILL'), 'SIGKILL', `${role[0]} is killed`)
      processes[n] = await start(role, directories[n] ?? '')
      await load.ended
    }
    await until(async () => (await committed(store)).length >= transfers.length, {
      what: 'all is committed',
      ...patient,
    })
    const hashes = await committed(store)
    t.equal(hashes.length, transfers.length, 'each transaction is in one block, once')
    t.same(new Set(hashes), new Set(transfers.map(({ hash }) => hash)))

    const height = (await store.blocks.newest())?.height
    const archivist = processes.at(-1)
    await until(async () => (await ask(`${archivist?.url}/block/${height}`)).status === 200, {
      what: 'the archivist has the newest block',
      ...patient,
    })
  },
)

/** Submits all, each until an API has answered 200: what had no answer is submitted again to the other. */
function submitAll(t: Test, urls: readonly string[], transfers: readonly { cborHex: string }[]) {
  const clients = urls.map((url) => keepAliveClient(t, url))
  let taken = 0
  const left = [...transfers]
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { cborHex } = next
      let attempt = taken
      await until(
        async () => {
          const answer = clients[attempt++ % clients.length]?.submit(cborHex)
          return (await answer?.catch(() => undefined)) !== undefined
        },
        { what: 'an API takes a transaction', ...patient },
      )
      taken++
    }
  }
  return { taken: () => taken, ended: Promise.all(Array.from({ length: atOnce }, work)) }
}

async function committed(store: Store): Promise<readonly string[]> {
  const blocks = await store.blocks.unmerged()
  const confirmed = blocks.filter(({ state }) => state === 'committed')
  const pages = await Promise.all(
    confirmed.map(({ headerHash }) => collect(store.blockTransactionPages(headerHash))),
  )
  return pages.flat().map((id) => Buffer.from(id).toString('hex'))
}
