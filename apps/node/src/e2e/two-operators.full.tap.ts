import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { freePort } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { anyPlacement } from '../test/backends.js'
import { devnetServer, devnetWallets } from '../test/forged-block.js'
import { initialised, runNode, submit } from '../test/node.js'
import { manyTransfers } from '../test/transfer.js'

t.setTimeout(600_000)

const phrase = `${'abandon '.repeat(23)}art`
const patient = { timeoutMs: 300_000 }

/** Two operators on one layer 1, each with a node that knows the other. The second never commits. */
async function openTwo(t: Test) {
  const layer1 = await devnetServer(t)
  const { genesisFile, transfers } = await manyTransfers(t, 40)
  const { port, walletOf } = devnetWallets(t, layer1.devnet)
  const { addressText: address } = keysFromSeedPhrase(phrase, { networkId: 0 })
  const outputs = Array.from({ length: 5 }, () => ({ address, lovelace: 1_000_000_000n }))
  await port.await((await walletOf(3).send({ outputs })).id)

  const ports = [await freePort(), await freePort()]
  const peerOf = (own: number) => `http://127.0.0.1:${ports[1 - own]}`
  const start = async (own: number, settings: Readonly<Record<string, string>>) =>
    runNode(t, {
      ...(await anyPlacement(t)),
      ...layer1.settings,
      GENESIS_FILE: genesisFile,
      PORT: String(ports[own]),
      OPERATOR_TURN_MS: '10000',
      MATURITY_WINDOW_MS: '5000',
      BLOCK_VALIDITY_MS: '5000',
      MERGE_INTERVAL_MS: '500',
      ARCHIVIST_PEERS: `${peerOf(own)}/archivist`,
      OPERATOR_PEERS: peerOf(own),
      SERVE_METRICS: 'true',
      ...settings,
    })
  const one = await start(0, {})
  await initialised(one.url)
  const own = { OPERATOR_SEED_PHRASE: phrase, AUTO_INIT: 'false', AUTO_COMMIT: 'false' }
  const two = await start(1, own)
  t.equal((await ask(`${two.url}/init`)).status, 200, 'the second operator is registered')
  return { one, two, transfers }
}

t.test('what a node accepts outside its turn is in a block of the other, and merged on both', async (t) => {
  const { one, two, transfers } = await openTwo(t)
  for (const [n, { cborHex }] of transfers.entries())
    t.equal((await submit((n % 4 ? two : one).url, cborHex)).status, 200)
  const statusAt = async (url: string, hash: string) =>
    JSON.parse((await ask(`${url}/tx/status?tx_hash=${hash}`)).body)
  for (const { hash } of transfers)
    for (const { url } of [one, two])
      await until(async () => (await statusAt(url, hash)).status === 'merged', patient)

  const [atOne, atTwo] = await Promise.all(
    [one, two].map(async ({ store }) => store.blocks.range(1n, (await store.blocks.confirmed())!.height)),
  )
  const hashes = (blocks: typeof atOne) => blocks?.map(({ headerHash }) => headerHash)
  t.same(hashes(atTwo), hashes(atOne), 'both have the same blocks')
  t.ok(
    atTwo?.every(({ commitTransaction }) => commitTransaction === undefined),
    'all of the first operator',
  )
  for (const { store } of [one, two]) t.same(await store.rejections.list({ limit: 10 }), [])
  const { body } = await ask(`${two.url}/metrics`)
  const delivered = Number(/ratatosk_forwarded_total\{outcome="delivered"\} (\d+)/.exec(body)?.[1])
  t.ok(delivered > 0, `${delivered} deliveries`)
})
