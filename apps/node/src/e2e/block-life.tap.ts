import { type Answer, ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { anyPlacement, backends } from '../test/backends.js'
import { devnetServer } from '../test/devnet-server.js'
import { initialised, runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfers.js'

const json = ({ status, body }: Answer) => ({ status, body: JSON.parse(body) })

/** Settings under which only the endpoints trigger operations. */
const byHand = {
  AUTO_INIT: 'false',
  AUTO_COMMIT: 'false',
  AUTO_MERGE: 'false',
  MATURITY_WINDOW_MS: '500',
  BLOCK_VALIDITY_MS: '10000',
}

for (const backend of await backends()) {
  t.test(`init, commit, mature, merge, reset on ${backend.name}`, { skip: backend.skip }, async (t) => {
    const layer1 = await devnetServer(t)
    const node = await runNode(t, { ...(await backend.place(t)), ...layer1.settings, ...byHand })
    const get = async (path: string) => json(await ask(`${node.url}${path}`))

    const before = await get('/stateQueue/root-unit-diagnostics')
    t.match(before, {
      status: 200,
      body: { status: 'invalid', resetInProgress: false, count: 0, outRefs: [] },
    })
    const { rootUnit, stateQueueAddress } = before.body
    t.match(rootUnit, /^[0-9a-f]{56}/)
    t.equal(Buffer.from(rootUnit.slice(56), 'hex').toString(), 'RATATOSK_CONFIRMED_STATE')
    t.equal(stateQueueAddress, node.stateQueueAddress)
    t.same(await get('/stateQueue'), { status: 200, body: { headers: [] } })
    t.match(
      await get('/commit'),
      { status: 409, body: { error: /initialise/ } },
      'there is nothing to commit to yet',
    )

    const initiated = await get('/init')
    t.equal(initiated.status, 200)
    const { txHash } = initiated.body
    t.match(txHash, /^[0-9a-f]{64}$/)
    t.same(initiated.body, { message: `Initiation successful: ${txHash}`, txHash, rootUnit })
    const ok = await get('/stateQueue/root-unit-diagnostics')
    t.match(ok.body, { status: 'ok', count: 1, outRefs: [/^[0-9a-f]{64}#\d+$/] })
    const again = await get('/init')
    t.equal(again.status, 409)
    t.match(again.body, { error: String, rootUnit, stateQueueAddress, count: 1, outRefs: ok.body.outRefs })

    t.same(await get('/commit'), { status: 200, body: { message: 'Nothing to commit', transactions: 0 } })
    t.same(await get('/merge'), { status: 200, body: { message: 'Nothing to merge' } })

    const made = await Promise.all([transferFrom(3, 0), transferFrom(3, 1)])
    const hashes = made.map(({ transfer }) => transfer.hash)
    for (const { transfer } of made) t.equal((await submit(node.url, transfer.cborHex)).status, 200)
    const found = async () => {
      const answers = await Promise.all(hashes.map((hash) => ask(`${node.url}/tx?tx_hash=${hash}`)))
      return answers.every(({ status }) => status === 200)
    }
    await until(found)
    const reads = () =>
      Promise.all(
        made.flatMap(({ receiver }) => [get(`/txs?address=${receiver}`), get(`/utxos?address=${receiver}`)]),
      )
    const asMempool = await reads()

    const committed = await get('/commit')
    t.equal(committed.status, 200)
    const { headerHash } = committed.body
    t.match(headerHash, /^[0-9a-f]{56}$/)
    t.same(committed.body, {
      message: `Block commitment successful: ${headerHash}`,
      headerHash,
      txHash: committed.body.txHash,
      transactions: 2,
    })
    t.same(await get('/stateQueue'), { status: 200, body: { headers: [headerHash] } })
    const block = await get(`/block?header_hash=${headerHash}`)
    t.same([...block.body.hashes].sort(), [...hashes].sort())
    t.ok(await found())
    t.same(await reads(), asMempool)

    let merged = await get('/merge')
    await until(
      async () => {
        if (merged.body.message !== 'Nothing to merge') return true
        merged = await get('/merge')
        return false
      },
      { what: 'the block is merged' },
    )
    t.equal(merged.status, 200)
    t.same(merged.body, {
      message: `Merging confirmed state successful: ${headerHash}`,
      headerHash,
      txHash: merged.body.txHash,
    })
    t.same(await get('/stateQueue'), { status: 200, body: { headers: [] } })
    t.same(await get(`/block?header_hash=${headerHash}`), block, '/block still lists them')
    t.ok(await found(), '/tx still finds every transaction')
    t.same(await reads(), asMempool, '/txs and /utxos are unchanged')

    const balance = await get('/commitment-wallet/balance')
    t.equal(balance.status, 200)
    t.match(balance.body.lovelaceBalance, /^[1-9][0-9]*$/)
    t.same(await get('/logBlocksTxsDB'), {
      status: 200,
      body: { message: 'BlocksTxsDB drawn in server logs!' },
    })
    t.same(await get('/logGlobals'), { status: 200, body: { message: 'Global variables logged!' } })

    t.same(await get('/reset'), { status: 200, body: { message: 'Collected all UTxOs successfully!' } })
    t.match((await get('/stateQueue/root-unit-diagnostics')).body, { status: 'invalid', count: 0 })
    t.equal((await ask(`${node.url}/tx?tx_hash=${hashes[0]}`)).status, 404, 'the ledger is empty')
    t.equal((await get('/init')).status, 200, 'and can begin anew, without a restart')
    const anew = await transferFrom(3, 0)
    t.equal((await submit(node.url, anew.transfer.cborHex)).status, 200)
    await until(async () => (await ask(`${node.url}/tx?tx_hash=${anew.transfer.hash}`)).status === 200)
    t.match(await get('/commit'), { status: 200, body: { transactions: 1 } })
  })
}

t.test('a node with default settings initialises, commits and merges automatically', async (t) => {
  const node = await runNode(t, {
    ...(await anyPlacement(t)),
    MATURITY_WINDOW_MS: '500',
    BLOCK_VALIDITY_MS: '10000',
    MERGE_INTERVAL_MS: '500',
  })
  const get = async (path: string) => json(await ask(`${node.url}${path}`))
  await initialised(node.url)
  const { transfer } = await transferFrom(4, 0)
  t.equal((await submit(node.url, transfer.cborHex)).status, 200)
  const headers = new Set<string>()
  await until(async () => {
    for (const header of (await get('/stateQueue')).body.headers) headers.add(header)
    return headers.size > 0
  })
  await until(async () => (await node.store.blocks.byHeight(1n))?.state === 'merged')
  t.same((await get('/stateQueue')).body, { headers: [] })
  const [header] = headers
  t.same((await get(`/block?header_hash=${header}`)).body, { hashes: [transfer.hash] })
  t.match(await node.store.blocks.byHeight(1n), { state: 'merged', transactions: 1 })
})
