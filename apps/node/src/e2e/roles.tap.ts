import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { readSettings, startNode } from '../index.js'
import { anyPlacement, sharedBackends } from '../test/backends.js'
import { askExact, runNode, submit } from '../test/node.js'
import { devnetFunds, transferFrom } from '../test/transfer.js'

const health = ['/health/live', '/health/ready']
const forApi = [
  '/submit',
  '/faucet/claims',
  '/commit',
  '/stateQueue/root-unit-diagnostics',
  '/commitment-wallet/balance',
  '/operators',
  '/summons',
  '/verdicts',
  '/tx/status',
  '/tx/statuses',
  '/submission',
  '/events',
  '/explorer/overview',
  '/explorer/rates',
  '/explorer/blocks',
  '/explorer/search',
  '/explorer/trust',
]
/** Of an `api` node too; what they name decides whether they answer 404. */
const named = ['/explorer/block/{id}', '/explorer/tx/{hash}']
/** Documented too; most are no GET requests. */
const ofBridge = ['/bridge', '/bridge/draft', '/bridge/submit', '/deposits', '/withdrawals']
const forAll = [
  '/tx',
  '/txs',
  '/utxos',
  '/block',
  '/stateQueue',
  '/stateQueue/repair-root-units',
  '/init',
  '/merge',
  '/reset',
  '/remove',
  '/logBlocksTxsDB',
  '/logGlobals',
]
const forArchivists = ['/archivist/blocks']
const every = [...health, ...forApi, ...forAll, ...forArchivists]

/** The paths without the node's 404. The requests come from another site, so none has a side effect. */
async function servedPaths(url: string): Promise<string[]> {
  const headers = { 'sec-fetch-site': 'cross-site' }
  const answers = await Promise.all(
    every.map((path) => {
      // A stream would not end.
      const method =
        path === '/events' ? 'HEAD' : path === '/submit' || path === '/faucet/claims' ? 'POST' : 'GET'
      return ask(`${url}${path}`, { method, headers })
    }),
  )
  return every.filter((_path, index) => answers[index]?.status !== 404)
}

const services = await sharedBackends()

for (const backend of services) {
  t.test(`roles on ${backend.name}`, { skip: backend.skip }, async (t) => {
    const placement = await backend.place(t)
    const run = (t: Test, role: string) =>
      runNode(t, {
        ...placement,
        NODE_ROLE: role,
        ...(role !== 'reader' && { FAUCET_TOKEN: 'open-sesame' }),
      })

    await t.test('all serves every endpoint', async (t) => {
      t.same(await servedPaths((await run(t, 'all')).url), every)
    })

    await t.test(
      'api serves the endpoints that the specification gives it, and the same 404 for all others',
      async (t) => {
        const { url } = await run(t, 'api')
        t.same(await servedPaths(url), [...health, ...forApi])
        const document = JSON.parse((await ask(`${url}/openapi.json`)).body)
        const documented = [...health, ...forApi, ...named, ...ofBridge].sort()
        t.same(Object.keys(document.paths).sort(), documented, 'and documents them')
        const unknown = await askExact(`${url}/nothing`)
        t.match(unknown, { status: 404, body: '{"error":"Not Found","code":"DISABLED"}' })
        for (const path of [
          `/tx?tx_hash=${'ab'.repeat(32)}`,
          '/tx',
          '/txs',
          '/utxos?address=x',
          `/block?header_hash=${'ab'.repeat(28)}`,
          '/stateQueue',
          '/stateQueue/repair-root-units',
          '/init',
          '/merge',
          '/reset',
          '/remove',
        ]) {
          t.same(await askExact(`${url}${path}`), unknown, path)
        }
      },
    )

    await t.test('reader serves what reads and submits, and nothing of an operator', async (t) => {
      const { url } = await run(t, 'reader')
      const reads = ['/tx', '/txs', '/utxos', '/block', '/stateQueue', ...forArchivists]
      const own = every.filter((path) => forApi.includes(path) || reads.includes(path))
      const expected = own.filter((path) => path !== '/commit' && path !== '/faucet/claims')
      t.same(await servedPaths(url), [...health, ...expected])
      const document = JSON.parse((await ask(`${url}/openapi.json`)).body)
      const secured = Object.values<Record<string, { security?: unknown }>>(document.paths)
      t.ok(secured.every((methods) => Object.values(methods).every(({ security }) => !security)))
    })

    await t.test('tx-processor serves only health', async (t) => {
      t.same(await servedPaths((await run(t, 'tx-processor')).url), health)
    })

    await t.test('another bridge than that of the store is refused', async (t) => {
      for (const NODE_ROLE of ['tx-processor', 'api', 'sequencer', 'all'])
        for (const [name, value, was] of [
          ['BRIDGE', 'false', 'true'],
          ['BRIDGED_POLICIES', 'ab'.repeat(28), 'empty'],
        ] as const) {
          const settings = { PORT: '0', LOG_LEVEL: 'silent', FAUCET_TOKEN: 'open-sesame', ...placement }
          const start = startNode(readSettings({ ...settings, NODE_ROLE, [name]: value }))
          await t.rejects(start, {
            code: 'NODE_DATABASE',
            message: new RegExp(`A setting that is a parameter of|has ${name} ${was}, and here ${name} is`),
          })
        }
    })

    await t.test('sequencer serves its operator, and its blocks to archivists', async (t) => {
      const reads = ['/stateQueue/root-unit-diagnostics', '/commitment-wallet/balance']
      const operator = ['/commit', ...reads, '/operators', '/summons', '/verdicts', ...forAll].filter(
        (path) => !['/tx', '/txs', '/utxos', '/block', '/stateQueue'].includes(path),
      )
      const sequencer = await run(t, 'sequencer')
      t.same(await servedPaths(sequencer.url), [...health, ...operator, ...forArchivists])
      t.equal((await ask(`${sequencer.url}/deadLetters`)).status, 200)
      const reader = await run(t, 'reader')
      const { utxo } = devnetFunds(3, 0)
      const path = `/proofs/utxo?outref=${utxo.outref}`
      await until(async () => (await ask(reader.url + path)).status === 200, {
        what: 'a reader proves an output by what the active sequencer keeps',
      })
    })

    await t.test('an api node only queues transactions; a tx-processor validates them', async (t) => {
      const api = await run(t, 'api')
      const transfers = await Promise.all([0, 1, 2, 3].map((place) => transferFrom(2, place)))
      for (const { transfer } of transfers) t.equal((await submit(api.url, transfer.cborHex)).status, 200)
      const found = () =>
        Promise.all(
          transfers.map(async ({ transfer }) => {
            const cbor = await api.store.transaction(Buffer.from(transfer.hash, 'hex'))
            return cbor !== undefined && Buffer.from(cbor).toString('hex') === transfer.cborHex
          }),
        )
      t.same(await found(), [false, false, false, false], 'no process validates yet')
      await run(t, 'tx-processor')
      await run(t, 'tx-processor')
      await until(async () => (await found()).every(Boolean))

      const reader = await run(t, 'reader')
      for (const { transfer } of transfers) {
        const answer = await ask(`${reader.url}/tx?tx_hash=${transfer.hash}`)
        t.equal(answer.body, `{"tx":"${transfer.cborHex}"}`)
      }
      const blockfrost = `${reader.url}/l2/blockfrost/api/v0`
      const { transfer, receiver } = await transferFrom(2, 4)
      const submitted = await ask(`${blockfrost}/tx/submit`, {
        method: 'POST',
        headers: { 'content-type': 'application/cbor' },
        body: Buffer.from(transfer.cborHex, 'hex'),
      })
      t.match(submitted, { status: 200, body: `"${transfer.hash}"` }, 'an SDK has one URL')
      t.match(await ask(`${blockfrost}/txs/${transfer.hash}`), { status: 200 })
      t.match(await ask(`${blockfrost}/addresses/${receiver}/utxos`), { status: 200 })
    })
  })
}

t.test('OPERATOR_TOKEN guards operator endpoints, and only those', async (t) => {
  const { url } = await runNode(t, { ...(await anyPlacement(t)), OPERATOR_TOKEN: 'open-sesame' })
  for (const path of [
    '/init',
    '/commit',
    '/merge',
    '/reset',
    '/remove',
    '/stateQueue/repair-root-units',
    '/logBlocksTxsDB',
    '/logGlobals',
  ]) {
    const refused = await ask(`${url}${path}`)
    t.match(refused, { status: 401, body: '{"error":"Unauthorized"}' }, path)
    t.match(refused.headers['www-authenticate'], /^Bearer/)
  }
  const authorized = await ask(`${url}/logGlobals`, { headers: { authorization: 'Bearer open-sesame' } })
  t.equal(authorized.status, 200)
  const reads = ['/stateQueue', '/stateQueue/root-unit-diagnostics', '/commitment-wallet/balance']
  for (const path of [...reads, '/operators', '/summons']) {
    t.equal((await ask(`${url}${path}`)).status, 200, path)
  }
})

t.test('a node does not start in a role that its settings do not allow', async (t) => {
  for (const role of ['api', 'tx-processor', 'sequencer']) {
    t.throws(() => readSettings({ NODE_ROLE: role }), { message: /^NODE_ROLE is .* DATABASE_URL is not set/ })
  }
})
