import { fromHex, toHex } from '@ratatosk/cbor'
import { createClient } from '@ratatosk/client'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { anyPlacement, onServices, temporaryDirectory } from '../test/backends.js'
import { besideNode, devnetServer, serveBody, withoutWitnesses } from '../test/forged-block.js'
import { fundWatcher, initialised, runNode, submit, watcherPhrase } from '../test/node.js'
import { spawnNode } from '../test/node-process.js'
import { transferFrom } from '../test/transfer.js'

t.setTimeout(300_000)

const services = await onServices()
const json = async (url: string) => JSON.parse((await ask(url)).body)

t.test('an operator’s node removes the invalid block of another, once, also when it is killed', async (t) => {
  const layer1 = await devnetServer(t)
  const peer = await serveBody(t)
  const environment = {
    ...(await anyPlacement(t)),
    ...layer1.settings,
    ARCHIVIST_PEERS: peer.url,
    AUTO_COMMIT: 'false',
    BLOCK_VALIDITY_MS: '10000',
    MATURITY_WINDOW_MS: '600000',
    SEQUENCER_LEASE_MS: '5000',
    WATCHER_SEED_PHRASE: watcherPhrase,
  }
  const first = await spawnNode(t, environment)
  await initialised(first.url)
  const beside = await besideNode(t, layer1.devnet, environment)
  const address = await fundWatcher(beside.walletOf(5), (id) => beside.port.await(id))
  const { transfer } = await transferFrom(5, 0)
  const stolen = withoutWitnesses(fromHex(transfer.cborHex))
  const { header, transactions } = await beside.commitForged([], [stolen])
  const blocks = async () => (await beside.readQueue()).blocks.length
  peer.know({ header, transactions })
  const isFound = async () => (await json(`${first.url}/verdicts`)).verdicts.length > 0
  await until(isFound, { what: 'the watcher finds the block', timeoutMs: 60_000 })
  t.equal(await first.stop('SIGKILL'), 'SIGKILL')

  const second = await runNode(t, environment)
  t.equal(second.watcherAddress, address)
  const verdicts = async () => (await json(`${second.url}/verdicts`)).verdicts
  const isSettled = async () => (await verdicts())[0]?.state === 'removed'
  await until(isSettled, { what: 'the block is removed', timeoutMs: 90_000 })
  t.equal(await blocks(), 0)
  t.same((await beside.readOperators()).datum.operators, [], 'its operator is slashed')
  const [verdict, ...others] = await verdicts()
  t.same(others, [])
  t.match(verdict, {
    operatorKey: toHex(header.operatorVkey),
    fraud: 'missingSignature',
    transactions: [{ stage: 'removal' }],
  })
  t.equal(verdict.transactions.length, 1, 'one transaction was enough')
  const states: string[] = []
  const events = createClient(second.url).streamEvents({ type: 'verdict', after: '0.0.0' })
  for await (const { type, data } of events) {
    if (type !== 'verdict') break
    t.equal(data.headerHash, verdict.headerHash)
    states.push(data.state)
    if (data.state === 'removed') break
  }
  t.same(states, ['invalid', 'removing', 'removed'])
  const isReady = async () => (await ask(`${second.url}/health/ready`)).status === 200
  await until(isReady, { what: 'the node is ready', timeoutMs: 60_000 })
})

t.test('an operator’s node follows its own blocks without a peer, also after a reset', async (t) => {
  const layer1 = await devnetServer(t)
  const environment = {
    ...(await anyPlacement(t)),
    ...layer1.settings,
    BLOCK_VALIDITY_MS: '10000',
    MATURITY_WINDOW_MS: '600000',
    WATCHER_PATIENCE_MS: '0',
    WATCHER_SEED_PHRASE: watcherPhrase,
  }
  const node = await runNode(t, environment)
  const { archive, blocks, verdicts } = node.store
  for (const account of [5, 6]) {
    await initialised(node.url)
    const { transfer } = await transferFrom(account, 0)
    t.equal((await submit(node.url, transfer.cborHex)).status, 200)
    const isArchived = async () => {
      const [newest, tip] = [await blocks.newest(), await archive.tip()]
      return newest !== undefined && tip !== undefined && toHex(newest.headerHash) === toHex(tip.headerHash)
    }
    await until(isArchived, { what: 'the block is followed', timeoutMs: 60_000 })
    t.equal((await archive.tip())?.height, 1n)
    if (account === 6) break
    t.equal((await ask(`${node.url}/reset`)).status, 200)
    t.equal(await archive.tip(), undefined)
    t.equal((await ask(`${node.url}/init`)).status, 200)
  }
  t.same((await verdicts.list({ limit: 1 })).verdicts, [], 'nothing is disputed')
  t.match(await json(`${node.url}/health/ready`), { status: 'ready' }, 'the watcher’s wallet is empty')
})

t.test('one process of a store watches at a time', { skip: services.skip }, async (t) => {
  const layer1 = await devnetServer(t)
  const placement = await services.place(t)
  const environment = {
    ...placement,
    ...layer1.settings,
    BLOCK_VALIDITY_MS: '10000',
    MATURITY_WINDOW_MS: '600000',
    WATCHER_SEED_PHRASE: watcherPhrase,
  }
  const first = await runNode(t, environment)
  const DATA_DIR = await temporaryDirectory(t)
  const second = await runNode(t, { ...environment, DATA_DIR })
  await initialised(first.url)
  const { leases, archive } = second.store
  const holder = async () => (await leases.current('watcher'))?.holder
  const commit = async (account: number) => {
    const { transfer } = await transferFrom(account, 0)
    t.equal((await submit(second.url, transfer.cborHex)).status, 200)
  }
  await commit(5)
  const height = async () => (await archive.tip())?.height ?? 0n
  await until(async () => (await height()) === 1n, { what: 'the first block is followed', timeoutMs: 60_000 })
  const before = await holder()
  await first.close()
  await until(async () => ![undefined, before].includes(await holder()), { what: 'the other takes over' })
  await commit(6)
  await until(async () => (await height()) === 2n, { what: 'the next block is followed', timeoutMs: 60_000 })
})
