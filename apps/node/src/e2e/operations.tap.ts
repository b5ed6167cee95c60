import { headerHash } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import { testWallets } from '@ratatosk/devnet'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { commitBlock, initQueue, readRegistry, readStateQueue } from '@ratatosk/protocol'
import { openStore, type Store } from '@ratatosk/store'
import { acceptedOf } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { loadContext } from '../context.js'
import { readSettings } from '../index.js'
import { contractsOf } from '../layer1/settlement.js'
import { anyPlacement, onServices } from '../test/backends.js'
import { devnetServer, devnetWallets } from '../test/forged-block.js'
import { initialised, runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfer.js'

t.test(
  'a queue that another process extended is repaired without a restart, and there is never a second root',
  async (t) => {
    const layer1 = await devnetServer(t)
    const environment = {
      ...(await anyPlacement(t)),
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
    const { headerHash: own } = JSON.parse(before.body)

    const { port, walletOf } = devnetWallets(t, layer1.devnet)
    const [administrator, operator] = [walletOf(0), walletOf(1)]
    const contracts = contractsOf(
      await loadContext(readSettings({ ...environment, LOG_LEVEL: 'silent' }), {}),
    )
    const { scripts } = contracts
    const readQueue = async () => readStateQueue(contracts, await port.utxosAt(scripts.queue.addressText))
    await until(async () => (await readQueue()).blocks.length === 1)
    const queue = await readQueue()
    const registry = readRegistry(contracts, await port.utxosByUnit(scripts.registry.unit))
    if (registry === undefined) throw new Error('there is no registry')

    const { state } = queue.roots[0]!.datum
    const stopped = { ...registry, datum: { ...registry.datum, running: false } }
    await t.rejects(
      administrator.build(initQueue(contracts, stopped, state)),
      { code: 'WALLET_TRANSACTION_REFUSED' },
      'the scripts refuse a second root',
    )

    // Another process uses the operator's key and commits a block that the node does not know.
    const last = queue.blocks[0]!.datum.header
    const slots = await port.slots()
    const slot = await port.currentSlot()
    const header = {
      ...last,
      prevUtxosRoot: last.utxosRoot,
      utxosRoot: new Uint8Array(32).fill(0xee),
      startTime: last.endTime,
      endTime: last.endTime + 5000n,
      prevHeaderHash: headerHash(last),
    }
    const foreign = await operator.send(commitBlock(contracts, { queue, registry, header, slot, slots }))
    await port.await(foreign.id)

    t.equal((await commit(1)).status, 409, 'nothing is committed to a queue that was extended')
    t.same((await get('/stateQueue')).headers, [own, toHex(headerHash(header))], 'its headers are listed')
    t.same(await get('/stateQueue/repair-root-units'), {
      message: 'State-queue root-unit repair completed successfully!',
    })
    t.match(await diagnostics(), { status: 'invalid', count: 0, outRefs: [] })
    t.match(await ask(`${node.url}/init`), { status: 200 })
    t.match(await diagnostics(), { status: 'ok', count: 1 })

    const after = await commit(2)
    t.equal(after.status, 200, 'the node goes on without a restart')
    const { headerHash: next, transactions } = JSON.parse(after.body)
    t.equal(transactions, 3, 'with the transactions of the queue that was burned')
    const { hashes } = await get(`/block?header_hash=${next}`)
    t.ok(hashes.includes(before.hash))
    t.same((await get('/stateQueue')).headers, [next])
  },
)

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

/** Puts a transaction with a wrong signature into the mempool. */
async function acceptForged(store: Store, cborHex: string): Promise<void> {
  const cbor = fromHex(cborHex)
  // Behind the head of a byte string of 64 bytes.
  const signature = Buffer.from(cbor).indexOf('5840', 'hex') + 2
  cbor[signature] = (cbor[signature] ?? 0) ^ 1
  await store.withLedger((ledger) => ledger.apply({ transactions: [acceptedOf(cbor)] }))
}

t.test(
  'after init a node needs only the hash of the administrator, who comes back to remove a block, ' +
    'whose transactions are validated again',
  async (t) => {
    const layer1 = await devnetServer(t)
    const environment = {
      ...(await anyPlacement(t)),
      ...layer1.settings,
      AUTO_COMMIT: 'false',
      AUTO_MERGE: 'false',
      MATURITY_WINDOW_MS: '1000',
      // Each node commits soon after its start, while the threads that run its scripts are starting too.
      BLOCK_VALIDITY_MS: '20000',
    }
    const first = await runNode(t, environment)
    await initialised(first.url)
    await first.close()

    const { payment } = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0 })
    const hash = toHex(payment.hash)
    const node = await runNode(t, { ...environment, ADMIN_KEY_HASH: hash })
    const get = async (path: string) => {
      const { status, body } = await ask(`${node.url}${path}`)
      return { status, ...JSON.parse(body) }
    }
    t.equal(node.stateQueueAddress, first.stateQueueAddress, 'the same deployment')

    const commit = async (place: number) => {
      const { transfer } = await transferFrom(5, place)
      t.equal((await submit(node.url, transfer.cborHex)).status, 200)
      await until(async () => (await get(`/tx?tx_hash=${transfer.hash}`)).status === 200)
      return { transfer, answer: await get('/commit') }
    }
    t.match((await commit(0)).answer, { status: 200, transactions: 1 })
    await until(async () => String((await get('/merge')).message).startsWith('Merging confirmed state'))

    // A transfer that validation would never accept, as in the block of an operator who lies.
    const forged = (await transferFrom(5, 2)).transfer
    await acceptForged(node.store, forged.cborHex)
    const { transfer, answer } = await commit(1)
    t.match(answer, { status: 200, transactions: 2 })
    const { headerHash } = answer
    const error = new RegExp(
      `^This needs the signature of the administrator \\(key ${hash}\\): .*ADMIN_SEED_PHRASE_FILE`,
    )
    t.match(await get('/reset'), { status: 409, error })
    t.match(await get(`/remove?header_hash=${headerHash}`), { status: 409, error })
    t.match(await get('/init'), { status: 409, count: 1 })
    t.same((await get('/stateQueue')).headers, [headerHash], 'nothing has changed')
    await node.close()

    const last = await runNode(t, environment)
    const remove = await ask(`${last.url}/remove?header_hash=${headerHash.toUpperCase()}`)
    t.equal(remove.status, 200, remove.body)
    t.match(JSON.parse(remove.body), { headerHash, removed: [headerHash] })
    t.same(JSON.parse((await ask(`${last.url}/stateQueue`)).body).headers, [])
    const isBack = async ({ hash }: { hash: string }) =>
      (await ask(`${last.url}/tx?tx_hash=${hash}`)).status === 200
    await until(() => isBack(transfer))
    await until(async () => (await last.store.rejections.findTransaction(fromHex(forged.hash))) !== undefined)
    t.match(await last.store.rejections.findTransaction(fromHex(forged.hash)), {
      code: 'InvalidWitnessesUTXOW',
    })
    t.notOk(await isBack(forged))
    t.match(await last.store.resubmissions.ofTransaction(fromHex(forged.hash)), [
      { block: { headerHash: fromHex(headerHash) } },
    ])
    const again = JSON.parse((await ask(`${last.url}/commit`)).body)
    t.equal(again.transactions, 1, 'the transaction is committed again')
    const { hashes } = JSON.parse((await ask(`${last.url}/block?header_hash=${again.headerHash}`)).body)
    t.same(hashes, [transfer.hash])
    t.same(JSON.parse((await ask(`${last.url}/block?header_hash=${headerHash}`)).body).hashes, [])
  },
)
