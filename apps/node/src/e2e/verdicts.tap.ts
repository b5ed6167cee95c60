import { headerHash } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import { verdictPolicies } from '@ratatosk/contracts'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { anyPlacement } from '../test/backends.js'
import { devnetServer } from '../test/devnet-server.js'
import { besideNode, withoutWitnesses } from '../test/forged-block.js'
import { initialised, runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfers.js'

t.test('on the devnet anyone removes a block that takes an output without a signature', async (t) => {
  const layer1 = await devnetServer(t)
  const environment = {
    ...(await anyPlacement(t)),
    ...layer1.settings,
    AUTO_COMMIT: 'false',
    BLOCK_VALIDITY_MS: '10000',
  }
  const node = await runNode(t, environment)
  await initialised(node.url)
  const beside = await besideNode(t, layer1.devnet, environment)
  const { contracts, port, readOperators } = beside
  const policies = Object.keys(verdictPolicies).length
  t.equal(
    (await beside.readScripts()).length,
    5 + policies,
    'the node has published every verdict policy, the summons and the bridge',
  )

  // The operator commits a transaction whose signature it leaves out.
  const { transfer } = await transferFrom(5, 0)
  const stolen = withoutWitnesses(fromHex(transfer.cborHex))
  t.equal((await submit(node.url, toHex(stolen))).status, 200)
  const block = await beside.commitForged([], [stolen])
  const headers = async () => JSON.parse((await ask(`${node.url}/stateQueue`)).body).headers
  await until(async () => (await headers()).length === 1, { what: 'the node sees the forged block' })
  t.same(await headers(), [toHex(headerHash(block.header))])

  const removal = await beside.removalOf(block)
  t.match(removal, { policy: 'witness', fraud: 'missingSignature' })
  const stranger = beside.walletOf(3)
  const balance = (await stranger.balance()).lovelace
  const removed = await stranger.send(removal!.draft)
  await port.await(removed.id)

  await until(async () => (await headers()).length === 0, { what: 'the block is removed' })
  t.same((await readOperators()).datum.operators, [], 'its operator is slashed')
  const gain = (await stranger.balance()).lovelace - balance
  t.ok(gain > contracts.parameters.bond, 'the bond and the block’s ada are the prover’s')
})
