import { bodyOf, deriveBlock, type Header, headerHash, partsOf } from '@ratatosk/block'
import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import { verdictPolicies } from '@ratatosk/contracts'
import { encodeOutputReference, slotToTime } from '@ratatosk/ledger'
import {
  administratorAddress,
  commitBlock,
  readRegistry,
  readStateQueue,
  referenceScriptsOf,
  removeFraudulentBlock,
} from '@ratatosk/protocol'
import { ask, until } from '@ratatosk/test-kit/http'
import { createMemoryStore, createTrie, type Entry } from '@ratatosk/trie'
import t from 'tap'
import { loadContext } from '../context.js'
import { readSettings } from '../index.js'
import { contractsOf } from '../layer1/settlement.js'
import { bothBackends } from '../test/backends.js'
import { devnetServer, devnetWallets } from '../test/devnet-server.js'
import { initialised, runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfers.js'

// Embedded databases start slowly if many tests share the processor.
t.setTimeout(600_000)

function trieOf(entries: Iterable<Entry>) {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  trie.update(Array.from(entries, ([key, value]) => ({ type: 'insert', key, value })))
  return trie
}

t.test('on the devnet anybody removes a block that takes an output without a signature', async (t) => {
  const [embedded] = await bothBackends()
  const layer1 = await devnetServer(t)
  const environment = {
    ...(await embedded.place(t)),
    ...layer1.settings,
    AUTO_COMMIT: 'false',
    VERDICT_POLICIES: Object.keys(verdictPolicies).join(','),
    BLOCK_VALIDITY_MS: '10000',
  }
  const node = await runNode(t, environment)
  await initialised(node.url)

  const { evaluator, port, walletOf } = devnetWallets(t, layer1.devnet)
  const [operator, stranger] = [walletOf(1), walletOf(3)]
  const context = await loadContext(readSettings({ ...environment, LOG_LEVEL: 'silent' }), {})
  const contracts = contractsOf(context)
  const { scripts } = contracts
  const readQueue = async () => readStateQueue(contracts, await port.utxosAt(scripts.queue.addressText))
  const readOperators = async () => readRegistry(contracts, await port.utxosByUnit(scripts.registry.unit))!

  const held = await port.utxosAt(administratorAddress(contracts))
  const referenceScripts = referenceScriptsOf(contracts, held)
  const policies = Object.keys(verdictPolicies).length
  t.equal(referenceScripts.length, 2 + policies, 'the node has published every verdict policy')

  // The operator commits a transaction whose signature it leaves out.
  const { transfer } = await transferFrom(5, 0)
  const { body: signed } = partsOf(fromHex(transfer.cborHex))
  const stolen = concatBytes(Uint8Array.of(0x84), signed, Uint8Array.of(0xa0, 0xf5, 0xf6))
  t.equal((await submit(node.url, toHex(stolen))).status, 200)
  const outputs = new Map(
    context.genesis!.outputs.map(({ reference, output }) => [
      toHex(encodeOutputReference(reference)),
      output,
    ]),
  )
  const entries = () => Array.from(outputs, ([key, output]) => [fromHex(key), output] as const)
  const before = trieOf(entries())
  const outputsBefore = new Map(outputs)
  const { spent, produced } = bodyOf([stolen])
  for (const key of spent) outputs.delete(toHex(key))
  for (const { outref, output } of produced) outputs.set(toHex(outref), output)
  const queue = await readQueue()
  const { state } = queue.roots[0]!.datum
  t.equal(toHex(before.root), toHex(state.utxoRoot), 'the queue begins with the genesis')
  const [slots, slot] = [await port.slots(), await port.currentSlot()]
  const header: Header = {
    prevUtxosRoot: before.root,
    utxosRoot: trieOf(entries()).root,
    transactionsRoot: trieOf(deriveBlock([stolen], before.valueHash).entries()).root,
    depositsRoot: new Uint8Array(32),
    withdrawalsRoot: new Uint8Array(32),
    startTime: state.endTime,
    // Half a minute for the commitment to be included, also on a slow machine.
    endTime: slotToTime(slots, slot + 600n),
    prevHeaderHash: state.headerHash,
    operatorVkey: operator.keys.payment.hash,
    protocolVersion: state.protocolVersion,
  }
  const registry = await readOperators()
  const forged = await operator.send(
    commitBlock(contracts, { queue, registry, header, slot, slots, referenceScripts }),
  )
  await port.await(forged.id)
  const headers = async () => JSON.parse((await ask(`${node.url}/stateQueue`)).body).headers
  await until(async () => (await headers()).length === 1, { what: 'the node sees the forged block' })
  t.same(await headers(), [toHex(headerHash(header))])

  const { parameters, network } = context
  const removal = await removeFraudulentBlock(
    contracts,
    {
      block: {
        header,
        body: { transactions: [stolen] },
        before,
        outputBefore: (key) => outputsBefore.get(toHex(key)),
      },
      rules: { parameters, networkId: network.id, slots: network.slots },
      queue: await readQueue(),
      registry: await readOperators(),
      referenceScripts,
    },
    { parameters: await port.parameters(), slots, slot: await port.currentSlot(), evaluator },
  )
  t.match(removal, { policy: 'witness', fraud: 'missingSignature' })
  const balance = (await stranger.balance()).lovelace
  const removed = await stranger.send(removal!.draft)
  await port.await(removed.id)

  await until(async () => (await headers()).length === 0, { what: 'the block is removed' })
  t.same((await readOperators()).datum.operators, [], 'its operator is slashed')
  const gain = (await stranger.balance()).lovelace - balance
  t.ok(gain > contracts.parameters.bond, 'the bond and the block’s ada are the prover’s')
})
