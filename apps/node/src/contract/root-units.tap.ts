import { genesisHeaderHash } from '@ratatosk/contracts'
import { testWallets } from '@ratatosk/devnet'
import { createDevnetLayer1, initQueue, keysFromSeedPhrase, openWallet } from '@ratatosk/layer1'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import t from 'tap'
import { readSettings } from '../index.js'
import { contractsOf } from '../layer1/contracts.js'
import { bothBackends } from '../test/backends.js'
import { devnetServer } from '../test/devnet-server.js'
import { ask, submit } from '../test/http.js'
import { initialised } from '../test/initialised.js'
import { runNode } from '../test/node.js'
import { transferFrom } from '../test/transfers.js'
import { until } from '../test/until.js'

// Embedded databases are slow to begin where many tests share the processor.
t.setTimeout(600_000)

t.test('a second root unit, minted past the lock: told, burned, replaced, without a restart', async (t) => {
  const [embedded] = await bothBackends()
  const layer1 = await devnetServer(t)
  const environment = {
    ...(await embedded.place(t)),
    ...layer1.settings,
    AUTO_COMMIT: 'false',
    BLOCK_VALIDITY_MS: '10000',
  }
  const node = await runNode(t, environment)
  const get = async (path: string) => JSON.parse((await ask(`${node.url}${path}`)).body)
  const diagnostics = () => get('/stateQueue/root-unit-diagnostics')
  await initialised(node.url)

  const commit = async (place: number) => {
    const { transfer } = await transferFrom(5, place)
    t.equal((await submit(node.url, transfer.cborHex)).status, 200)
    await until(async () => (await ask(`${node.url}/tx?tx_hash=${transfer.hash}`)).status === 200)
    const answer = await ask(`${node.url}/commit`)
    return { ...answer, hash: transfer.hash }
  }
  const before = await commit(0)
  t.equal(before.status, 200)

  const evaluator = createEvaluator()
  t.teardown(() => evaluator.close())
  const port = createDevnetLayer1(layer1.devnet)
  const administrator = openWallet({
    layer1: port,
    keys: keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 0 }),
    evaluator,
  })
  const state = {
    headerHash: genesisHeaderHash(),
    prevHeaderHash: genesisHeaderHash(),
    utxoRoot: new Uint8Array(32),
    startTime: 0n,
    endTime: 0n,
    protocolVersion: 1n,
  }
  const { id } = await administrator.send(initQueue(contractsOf(readSettings(environment)), state))
  await port.await(id)

  const doubled = await diagnostics()
  t.match(doubled, { status: 'invalid', count: 2 })
  t.equal(new Set(doubled.outRefs).size, 2)
  t.equal((await commit(1)).status, 409, 'nothing is committed to a broken queue')
  const { headerHash: stray } = JSON.parse(before.body)
  t.same((await get('/stateQueue')).headers, [stray], 'its headers are told all the same')

  t.same(await get('/stateQueue/repair-root-units'), {
    message: 'State-queue root-unit repair completed successfully!',
  })
  t.match(await diagnostics(), { status: 'invalid', count: 0, outRefs: [] })
  t.match(await ask(`${node.url}/init`), { status: 200 })
  t.match(await diagnostics(), { status: 'ok', count: 1 })

  const after = await commit(2)
  t.equal(after.status, 200, 'the node goes on without a restart')
  const { headerHash, transactions } = JSON.parse(after.body)
  t.equal(transactions, 3, 'with what was in the queue that is gone')
  const { hashes } = await get(`/block?header_hash=${headerHash}`)
  t.ok(hashes.includes(before.hash))
  t.same((await get('/stateQueue')).headers, [headerHash])
})
