import { openStore, type Store } from '@ratatosk/store'
import { collect } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { onServices, temporaryDirectory } from '../test/backends.js'
import { keepAliveClient } from '../test/node.js'
import { type NodeProcess, spawnNode } from '../test/node-process.js'
import { manyTransfers } from '../test/transfer.js'

const leaseMs = 4000
const patient = { timeoutMs: 300_000 }
const afterwards = 100

const services = await onServices()

t.test(
  'two api nodes, two tx-processors, two sequencers: all is committed, and the death of the active ' +
    'sequencer changes nothing',
  { skip: services.skip },
  async (t) => {
    const placement = await services.place(t)
    const { genesisFile, transfers } = await manyTransfers(t, 5000 + afterwards)
    const spawn = async (role: string) =>
      spawnNode(t, {
        ...placement,
        NODE_ROLE: role,
        DATA_DIR: await temporaryDirectory(t),
        GENESIS_FILE: genesisFile,
        SEQUENCER_LEASE_MS: String(leaseMs),
        MATURITY_WINDOW_MS: '600000',
      })
    const [oneApi, otherApi] = await Promise.all([spawn('api'), spawn('api')])
    await Promise.all([spawn('tx-processor'), spawn('tx-processor')])
    const sequencers = await Promise.all([spawn('sequencer'), spawn('sequencer')])

    const store = await openStore({
      url: placement.DATABASE_URL ?? '',
      schema: placement.DATABASE_SCHEMA ?? '',
    })
    t.teardown(() => store.close())

    const clients = [oneApi, otherApi].map(({ url }) => keepAliveClient(t, url))
    const submitAll = (some: typeof transfers) =>
      Promise.all(some.map(({ cborHex }, n) => clients[n % 2]!.submit(cborHex)))
    await submitAll(transfers.slice(0, -afterwards))
    await until(async () => (await committed(store)) === 5000, patient)

    for (const { url } of [oneApi, otherApi]) {
      let answer = await ask(`${url}/commit`)
      // The sequencer may be running an automatic operation.
      await until(
        async () => {
          if (answer.status !== 409) return true
          answer = await ask(`${url}/commit`)
          return false
        },
        { what: '/commit is not refused by another operation' },
      )
      t.match(answer, { status: 200, body: '{"message":"Nothing to commit","transactions":0}' })
      t.match(await ask(`${url}/stateQueue/root-unit-diagnostics`), { status: 200, body: /"status":"ok"/ })
      t.equal((await ask(`${url}/health/ready`)).status, 200)
    }

    const active = await activeOf(store, sequencers)
    t.equal(await active.stop('SIGKILL'), 'SIGKILL')
    await submitAll(transfers.slice(-afterwards))
    await until(async () => (await committed(store)) === 5000 + afterwards, patient)
    const successor = await activeOf(store, sequencers)
    t.not(successor.pid, active.pid, 'the other one has taken over')

    const blocks = await store.blocks.unmerged()
    const hashes = new Set<string>()
    for (const { headerHash } of blocks) {
      for (const id of await collect(store.blockTransactionPages(headerHash)))
        hashes.add(Buffer.from(id).toString('hex'))
    }
    t.equal(hashes.size, transfers.length, 'each transaction is in one block')
    t.ok(transfers.every(({ hash }) => hashes.has(hash)))
    t.equal(
      blocks.reduce((sum, block) => sum + block.transactions, 0),
      transfers.length,
    )
  },
)

async function committed(store: Store): Promise<number> {
  const blocks = await store.blocks.unmerged()
  return blocks.reduce((sum, { state, transactions }) => sum + (state === 'committed' ? transactions : 0), 0)
}

/** The process that holds the sequencer's lease. */
async function activeOf(store: Store, sequencers: readonly NodeProcess[]): Promise<NodeProcess> {
  const holder = (await store.leases.current('sequencer'))?.holder ?? ''
  const found = sequencers.find(({ pid }) => holder.split('/').includes(String(pid)))
  if (found === undefined) throw new Error(`None of the sequencers is ${holder}`)
  return found
}
