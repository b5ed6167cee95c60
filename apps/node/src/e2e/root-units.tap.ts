import { headerHash } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { commitBlock, initQueue, readRegistry, readStateQueue } from '@ratatosk/protocol'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { loadContext } from '../context.js'
import { readSettings } from '../index.js'
import { contractsOf } from '../layer1/settlement.js'
import { anyPlacement } from '../test/backends.js'
import { devnetServer, devnetWallets } from '../test/devnet-server.js'
import { initialised, runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfers.js'

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
