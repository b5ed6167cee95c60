import { encodedHeader, headerHash } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import { verdictPolicies } from '@ratatosk/contracts'
import { outputReferenceKey } from '@ratatosk/ledger'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { anyPlacement } from '../test/backends.js'
import { besideNode, devnetServer, serveBody, withoutWitnesses } from '../test/forged-block.js'
import { initialised, runNode, submit } from '../test/node.js'
import { spawnNode } from '../test/node-process.js'
import { transferFrom } from '../test/transfer.js'

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

t.test('a watcher removes a block that breaks a rule, slashes its operator, and does so once', async (t) => {
  const layer1 = await devnetServer(t)
  const common = { ...layer1.settings, BLOCK_VALIDITY_MS: '10000', MATURITY_WINDOW_MS: '600000' }
  const environment = { ...(await anyPlacement(t)), ...common, AUTO_COMMIT: 'false' }
  const node = await runNode(t, environment)
  await initialised(node.url)
  const beside = await besideNode(t, layer1.devnet, environment)
  const peer = await serveBody(t)
  const watcher = { ...(await anyPlacement(t)), ...common, NODE_ROLE: 'watcher', ARCHIVIST_PEERS: peer.url }
  const first = await spawnNode(t, watcher)
  const isReady = async (url: string) => (await ask(`${url}/health/ready`)).status === 200
  await until(() => isReady(first.url), { what: 'the watcher is ready' })

  // The operator commits a transaction whose signature it leaves out.
  const { transfer } = await transferFrom(5, 0)
  const stolen = withoutWitnesses(fromHex(transfer.cborHex))
  t.equal((await submit(node.url, toHex(stolen))).status, 200)
  const { header, transactions } = await beside.commitForged([], [stolen])
  const headers = async () => JSON.parse((await ask(`${node.url}/stateQueue`)).body).headers
  await until(async () => (await headers()).length === 1, { what: 'the node sees the forged block' })
  const wallet = beside.walletOf(4)
  const balance = (await wallet.balance()).lovelace
  peer.know({ header, transactions })

  await until(async () => (await headers()).length === 0, { what: 'the block is removed', timeoutMs: 60_000 })
  t.same((await beside.readOperators()).datum.operators, [], 'its operator is slashed')
  const { bond } = beside.contracts.parameters
  t.ok((await wallet.balance()).lovelace - balance > bond, 'the bond and the block’s ada are the watcher’s')
  t.equal(await first.stop('SIGKILL'), 'SIGKILL')

  const unspent = async () =>
    (await beside.port.utxosAt(wallet.address)).map(({ reference }) => outputReferenceKey(reference)).sort()
  const before = await unspent()
  const second = await runNode(t, watcher)
  t.equal(second.watcherAddress, wallet.address)
  const listed = async () => (await second.store.verdicts.list({ limit: 10 })).verdicts
  await until(async () => (await listed())[0]?.state === 'removed', { what: 'the verdict is settled' })
  await until(() => isReady(second.url), { what: 'the watcher is ready again' })
  await new Promise((resolve) => setTimeout(resolve, 1500))
  const [verdict, ...others] = await listed()
  t.same(others, [])
  t.match(verdict, {
    block: { height: 1n, operatorKey: header.operatorVkey },
    position: 0,
    proof: { policy: 'witness', fraud: 'missingSignature' },
    reason: /MissingVKeyWitnessesUTXOW/,
    transactions: [{ stage: 'removal' }],
  })
  t.same(verdict?.block.headerHash, encodedHeader(header).hash)
  t.equal(verdict?.transactions.length, 1, 'one transaction was enough')
  t.ok(verdict?.removedAt)
  t.same(await unspent(), before, 'nothing is sent again')
  const [removal] = verdict?.transactions ?? []
  t.match(await beside.port.status(removal?.id ?? new Uint8Array()), { kind: 'confirmed' })
})
