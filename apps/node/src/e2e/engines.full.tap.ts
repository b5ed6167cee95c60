import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { embedded } from '../test/backends.js'
import { engines } from '../test/engines.js'
import { submit } from '../test/node.js'
import { spawnNode } from '../test/node-process.js'
import { transferFrom } from '../test/transfer.js'

// Installs two versions of Node on first use, and starts a node three times with each.
t.setTimeout(600_000)

const installed = await engines()
if (typeof installed === 'string') t.pass('the versions of Node', { skip: installed })

for (const { version, program } of Array.isArray(installed) ? installed : []) {
  t.test(`Node ${version} commits and merges payments, and keeps them when it is killed`, async (t) => {
    const environment = {
      ...(await embedded(t)),
      MATURITY_WINDOW_MS: '500',
      BLOCK_VALIDITY_MS: '10000',
      COMMIT_INTERVAL_MS: '200',
      MERGE_INTERVAL_MS: '500',
    }
    const start = async () => {
      const node = await spawnNode(t, environment, program)
      const read = async (path: string) => JSON.parse((await ask(`${node.url}${path}`)).body)
      return { ...node, read }
    }
    type Started = Awaited<ReturnType<typeof start>>
    const pay = async (node: Started, place: number) => {
      const { transfer, receiver } = await transferFrom(5, place)
      t.equal((await submit(node.url, transfer.cborHex)).status, 200)
      const path = `/tx/status?tx_hash=${transfer.hash}`
      await until(async () => (await node.read(path)).status === 'merged', { what: `${path} is merged` })
      const { block } = await node.read(path)
      return {
        paths: [
          `/tx?tx_hash=${transfer.hash}`,
          `/utxos?address=${receiver}`,
          `/block?header_hash=${block.headerHash}`,
          path,
        ],
        hash: transfer.hash,
      }
    }

    const first = await start()
    const { paths, hash } = await pay(first, 0)
    const before = await Promise.all(paths.map(first.read))
    t.same(before[2].hashes, [hash])
    t.equal(await first.stop('SIGKILL'), 'SIGKILL')

    const second = await start()
    t.same(await Promise.all(paths.map(second.read)), before, 'the ledger is intact')
    await pay(second, 1)
    t.equal(await second.stop('SIGTERM'), 0)
    // Deprecations and experiments.
    t.notMatch(first.output() + second.output(), /Warning/)
  })
}
