import { Address } from '@dcspark/cardano-multiplatform-lib-nodejs'
import { until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { backends } from '../test/backends.js'
import {
  midgardAddressHex,
  midgardChain,
  midgardFiles,
  missing,
  skipMidgard,
  wholeHistory,
} from '../test/midgard.js'
import { keepAliveClient } from '../test/node.js'
import { spawnNode } from '../test/node-process.js'

// Five times on three backends: hundreds of real transactions, a stop, a start and their history.
t.setTimeout(600_000)

const address = Address.from_hex(midgardAddressHex).to_bech32()

for (const backend of await backends()) {
  // Only the queue differs between PostgreSQL with and without Redis, and shut-down treats both alike.
  const signals =
    backend.name === 'PostgreSQL alone' ? ['SIGKILL' as const] : ['SIGTERM' as const, 'SIGKILL' as const]
  for (const signal of signals) {
    const skip = skipMidgard || backend.skip
    t.test(`${signal} under load, on ${backend.name}, loses nothing`, { skip }, async (t) => {
      const { genesis, freeOfCharge } = await midgardFiles(t)
      const environment = {
        ...(await backend.place(t)),
        GENESIS_FILE: genesis,
        PROTOCOL_PARAMETERS_FILE: freeOfCharge,
      }
      const chain = midgardChain('txs_0').slice(0, 300)
      const first = await spawnNode(t, environment)
      const client = keepAliveClient(t, first.url)
      // One after the other, so that the accepted transactions are the beginning of the chain.
      let taken = 0
      const load = (async () => {
        for (const { cborHex } of chain) {
          await client.submit(cborHex)
          taken++
        }
      })()
      const broken = load.catch(() => undefined)
      await until(async () => taken >= 100)
      const code = await first.stop(signal)
      t.equal(code, signal === 'SIGTERM' ? 0 : signal)
      await broken
      t.ok(taken >= 100 && taken < chain.length, `stopped in the middle: ${taken} were taken`)

      const second = await spawnNode(t, environment)
      const again = keepAliveClient(t, second.url)
      const accepted = chain.slice(0, taken)
      await until(async () => (await missing(again, accepted)).length === 0)
      // One more may have been accepted without its response arriving.
      const history = await wholeHistory(again, address, 500)
      const expected = chain.slice(0, Math.max(taken, history.length)).map(({ cborHex }) => cborHex)
      t.same(history, expected, 'each once, in order')
      t.ok(history.length <= taken + 1)
      t.equal(await second.stop('SIGTERM'), 0)
    })
  }
}
