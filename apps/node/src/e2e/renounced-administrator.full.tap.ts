import { headerHash } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import { verdictPolicies } from '@ratatosk/contracts'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { anyPlacement } from '../test/backends.js'
import { besideNode, devnetServer, withoutWitnesses } from '../test/forged-block.js'
import { initialised, runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfer.js'

t.test(
  'without an administrator the operator starts the rollup, a proof removes a forged block, and ' +
    'reset, repair and removal are refused',
  async (t) => {
    const layer1 = await devnetServer(t)
    const environment = {
      ...(await anyPlacement(t)),
      ...layer1.settings,
      ADMIN_RENOUNCED: 'true',
      VERDICT_POLICIES: Object.keys(verdictPolicies).join(','),
      AUTO_COMMIT: 'false',
      AUTO_MERGE: 'false',
      MATURITY_WINDOW_MS: '500',
      OPERATOR_TURN_MS: '20000',
      BLOCK_VALIDITY_MS: '10000',
    }
    const node = await runNode(t, environment)
    const get = async (path: string) => {
      const { status, body } = await ask(`${node.url}${path}`)
      return { status, ...JSON.parse(body) }
    }
    await initialised(node.url)
    const beside = await besideNode(t, layer1.devnet, environment)
    const { contracts, port } = beside
    t.equal(contracts.parameters.permissioned, false)
    const operators = async () => (await beside.readOperators()).datum.operators
    await until(async () => (await operators()).length === 1, { what: 'the operator is registered' })
    // Registry, queue, events and bridge.
    t.equal((await beside.readScripts()).length, 4 + Object.keys(verdictPolicies).length)

    const needsAdministrator = { status: 409, error: /^This needs an administrator, and the rollup has none/ }
    t.match(await get('/init'), { status: 409, count: 1 })
    t.match(await get('/reset'), needsAdministrator)
    t.match(await get(`/remove?header_hash=${'00'.repeat(28)}`), needsAdministrator)

    const accept = async (place: number) => {
      const { transfer } = await transferFrom(5, place)
      t.equal((await submit(node.url, transfer.cborHex)).status, 200)
      await until(async () => (await get(`/tx?tx_hash=${transfer.hash}`)).status === 200)
      return transfer
    }
    const honest = await accept(0)
    // The first turn begins after the one that follows the registration.
    const { activeFrom } = (await operators())[0]!
    await until(() => Date.now() > activeFrom, { timeoutMs: 180_000, what: "the operator's first turn" })
    t.match(await get('/commit'), { status: 200, transactions: 1 })
    await until(async () => String((await get('/merge')).message).startsWith('Merging confirmed state'))

    // The operator commits a transaction whose signature it leaves out.
    const stolen = withoutWitnesses(fromHex((await transferFrom(5, 1)).transfer.cborHex))
    const block = await beside.commitForged([fromHex(honest.cborHex)], [stolen])
    const forged = toHex(headerHash(block.header))
    const headers = async () => (await get('/stateQueue')).headers
    await until(async () => (await headers()).join() === forged, { what: 'the node sees the forged block' })
    await accept(2)
    t.match(await get('/commit'), { status: 409 }, 'nothing follows a block that the node does not know')
    t.match(await get(`/remove?header_hash=${forged}`), needsAdministrator)
    t.match(await get('/stateQueue/repair-root-units'), needsAdministrator)
    t.match(await get('/reset'), needsAdministrator)
    t.same(await headers(), [forged], 'nothing has changed')

    const removal = await beside.removalOf(block)
    t.match(removal, { policy: 'witness', fraud: 'missingSignature' })
    const stranger = beside.walletOf(3)
    const balance = (await stranger.balance()).lovelace
    const removed = await stranger.send(removal!.draft)
    await port.await(removed.id)
    await until(async () => (await headers()).length === 0, { what: 'the block is removed' })
    t.same(await operators(), [], 'its operator is slashed')
    t.ok((await stranger.balance()).lovelace - balance > contracts.parameters.bond)

    t.match(await get('/commit'), { status: 409, error: /^The operator is not in the registry: register it/ })
    t.match(await get('/init'), { status: 200, txHash: /^[0-9a-f]{64}$/ }, 'registers it for another bond')
    t.equal((await operators()).length, 1)
    t.match(await get('/init'), { status: 409, count: 1 })
  },
)
