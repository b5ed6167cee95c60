import { openStore } from '@ratatosk/store'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { anyPlacement, onServices } from '../test/backends.js'
import { devnetServer } from '../test/devnet-server.js'
import { runNode } from '../test/node.js'

const paths = ['/init', '/reset', '/stateQueue/repair-root-units', '/commit', '/merge']
const rounds = Number(process.env.RATATOSK_LOCK_ROUNDS ?? 10)
const byHand = { AUTO_INIT: 'false', AUTO_COMMIT: 'false', AUTO_MERGE: 'false', BLOCK_VALIDITY_MS: '10000' }

const services = await onServices()

t.test(`of concurrent operations one succeeds and the others conflict, ${rounds} rounds`, async (t) => {
  const layer1 = await devnetServer(t)
  const node = await runNode(t, { ...(await anyPlacement(t)), ...layer1.settings, ...byHand })
  // The latency of a real layer 1, so that the holder of the lock keeps it for a while.
  layer1.devnet.faults.inject({
    kind: 'delay',
    target: 'blockfrost',
    operation: 'utxos',
    times: Number.POSITIVE_INFINITY,
    delayMs: 20,
  })
  const winners = new Set<string>()
  for (let round = 0; round < rounds; round++) {
    const { body } = await ask(`${node.url}/stateQueue/root-unit-diagnostics`)
    if (JSON.parse(body).count === 0) t.equal((await ask(`${node.url}/init`)).status, 200)

    const first = round % paths.length
    const order = [...paths.slice(first), ...paths.slice(0, first)]
    const answers = await Promise.all(order.map((path) => ask(`${node.url}${path}`)))
    const done = order.filter((_path, n) => answers[n]?.status === 200)
    t.equal(done.length, 1, `round ${round}: ${done.join(' and ')}`)
    winners.add(done.join())
    order.forEach((path, n) => {
      const { status = 0, body = '' } = answers[n] ?? {}
      if (status === 200) return
      t.equal(status, 409, path)
      const { error } = JSON.parse(body)
      if (path.includes('reset') || path.includes('repair')) t.equal(error, 'Reset already in progress')
      else t.type(error, 'string')
    })
  }
  t.ok(winners.size >= 3, `those that came first: ${[...winners].join(', ')}`)
})

t.test('the lock of a killed holder ends with its lease', { skip: services.skip }, async (t) => {
  const layer1 = await devnetServer(t)
  const placement = await services.place(t)
  const node = await runNode(t, { ...placement, ...layer1.settings, ...byHand })
  t.equal((await ask(`${node.url}/init`)).status, 200)

  const store = await openStore({
    url: placement.DATABASE_URL ?? '',
    schema: placement.DATABASE_SCHEMA ?? '',
  })
  t.teardown(() => store.close())
  // The state that a process leaves when it dies during a reset.
  const lease = await store.leases.acquire('operation', 'gone:reset', 3000)
  t.ok(lease)
  const diagnostics = async () =>
    JSON.parse((await ask(`${node.url}/stateQueue/root-unit-diagnostics`)).body).resetInProgress
  t.equal(await diagnostics(), true)
  const conflict = '{"error":"Reset already in progress"}'
  for (const path of ['/stateQueue/repair-root-units', '/commit', '/merge', '/reset']) {
    t.match(await ask(`${node.url}${path}`), { status: 409, body: conflict }, path)
  }
  await until(async () => !(await diagnostics()))
  t.equal((await ask(`${node.url}/commit`)).status, 200)
})
