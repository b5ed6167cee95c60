import { toHex } from '@ratatosk/cbor'
import { rebuildUtxos } from '@ratatosk/follower'
import { encodeOutputReference } from '@ratatosk/ledger'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { readSettings } from '../index.js'
import { loadGenesis, networkOf } from '../network/network.js'
import { anyPlacement } from '../test/backends.js'
import { devnetServer } from '../test/forged-block.js'
import { keepAliveClient, runNode } from '../test/node.js'
import { manyTransfers } from '../test/transfer.js'

const transactions = 300
const patient = { timeoutMs: 300_000 }

t.test(
  'archivists keep what a node commits: the first from the node, the second from the first',
  async (t) => {
    const layer1 = await devnetServer(t)
    const { genesisFile, transfers } = await manyTransfers(t, transactions)
    const common = { ...layer1.settings, GENESIS_FILE: genesisFile, MATURITY_WINDOW_MS: '1000' }
    const run = async (t: Test, environment: Record<string, string>) =>
      runNode(t, { ...(await anyPlacement(t)), ...common, ...environment })
    const archivist = (peer: string) => run(t, { NODE_ROLE: 'archivist', ARCHIVIST_PEERS: peer })

    const node = await run(t, {
      COMMIT_INTERVAL_MS: '100',
      MERGE_INTERVAL_MS: '500',
      BLOCK_MAX_TRANSACTIONS: '20',
      BLOCK_VALIDITY_MS: '10000',
    })
    const client = keepAliveClient(t, node.url)
    await Promise.all(transfers.map(({ cborHex }) => client.submit(cborHex)))
    const counted = async () =>
      (await node.store.blocks.counts(1000)).filter(({ state }) => state !== 'built')
    await until(async () => {
      const sum = (await counted()).reduce((total, block) => total + block.transactions, 0)
      return sum === transactions
    }, patient)
    // Merged blocks are no longer in the state queue; archivists find them through their successors.
    await until(async () => (await node.store.blocks.confirmed()) !== undefined, patient)

    const height = (await counted()).length
    t.ok(height >= transactions / 20)
    const first = await archivist(`${node.url}/archivist`)
    const second = await archivist(first.url)
    for (const { store } of [first, second]) {
      await until(async () => (await store.archive.tip())?.height === BigInt(height), patient)
    }

    const same = async (path: string, accept: string) => {
      const [source, ...copies] = await Promise.all(
        [`${node.url}/archivist`, first.url, second.url].map((base) =>
          ask(`${base}${path}`, { headers: { accept } }),
        ),
      )
      t.equal(source?.status, 200, path)
      for (const copy of copies) t.equal(copy.body, source?.body, `${path} as ${accept}`)
      return source?.body ?? ''
    }
    const seen = new Set<string>()
    for (let at = 1; at <= height; at++) {
      const { hash, body } = JSON.parse(await same(`/block/${at}`, 'application/json'))
      t.equal(hash.length, 56)
      for (const transaction of body.transactions) seen.add(transaction)
      for (const path of [
        `/block/${hash}`,
        `/block/${hash}/header`,
        `/block/${hash}/body`,
        `/block/${at}/body`,
      ]) {
        await same(path, 'application/json')
      }
      await same(`/block/${hash}/body`, 'application/cbor')
    }
    t.same(seen, new Set(transfers.map(({ cborHex }) => cborHex)), 'every transaction is in one body')
    await same(`/blocks?from=1&to=${height}`, 'application/json')
    t.match(await ask(`${second.url}/block/${height + 1}`), {
      status: 404,
      body: `{"error":"Block not found: ${height + 1}"}`,
    })

    const settings = readSettings({ GENESIS_FILE: genesisFile })
    const genesis = (await loadGenesis(settings, networkOf(settings.NETWORK)))?.outputs ?? []
    const rebuilt = await rebuildUtxos({ archive: second.store.archive, genesis, height: BigInt(height) })
    const ledger = new Map<string, string>()
    for await (const piece of node.store.blocks.utxosAfterNewest()) {
      for (const { output, ...reference } of piece) {
        ledger.set(toHex(encodeOutputReference(reference)), toHex(output))
      }
    }
    t.equal(ledger.size, transactions + height, 'the output of each, and the fees of each block')
    t.same(new Map([...rebuilt].map(([key, output]) => [key, toHex(output)])), ledger)
  },
)

t.test('/block by query and by path work on the same server', async (t) => {
  const node = await runNode(t, await anyPlacement(t))
  t.match(await ask(`${node.url}/block?header_hash=${'ab'.repeat(28)}`), {
    status: 200,
    body: '{"hashes":[]}',
  })
  t.match(await ask(`${node.url}/archivist/block/7`), { status: 404, body: '{"error":"Block not found: 7"}' })
  t.match(await ask(`${node.url}/archivist/block/x`), {
    status: 400,
    body: '{"error":"Invalid block id: x"}',
  })
  t.match(await ask(`${node.url}/block/7`), { status: 404, body: '{"error":"Not Found","code":"DISABLED"}' })
})
