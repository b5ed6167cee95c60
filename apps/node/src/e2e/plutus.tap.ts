import { fromHex } from '@ratatosk/cbor'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { backends } from '../test/backends.js'
import { keepAliveClient, runNode } from '../test/node.js'
import {
  endless,
  type LockedOutput,
  lock,
  scriptConfig,
  unlock,
  wants42,
} from '../test/script-transactions.js'
import { devnetFunds, transferFrom } from '../test/transfer.js'

const enough = { memory: 1_000_000n, steps: 1_000_000_000n }
const most = { memory: 14_000_000n, steps: 10_000_000_000n }

const latest = (dates: readonly Date[]) => Math.max(...dates.map((date) => date.getTime()))

for (const backend of await backends()) {
  t.test(`Plutus V3 on ${backend.name}`, { skip: backend.skip }, async (t) => {
    const node = await runNode(t, await backend.place(t))
    const client = keepAliveClient(t, node.url)
    const config = await scriptConfig()
    const collateral = devnetFunds(4, 0)
    const arrived = async (hash: string) => (await client.get(`/tx?tx_hash=${hash}`)).status === 200
    let place = 0

    /** A new output of 50 ADA at the script's address, in the mempool ledger. */
    async function locked(script: string): Promise<LockedOutput> {
      const { transfer, locked } = lock(config, devnetFunds(3, place++), script, 50_000_000n)
      await client.submit(transfer.cborHex)
      await until(() => arrived(transfer.hash))
      return locked
    }

    /** When a transaction was accepted, by the clock of the store, which dates rejections too. */
    async function accepted(hash: string): Promise<Date> {
      await until(() => arrived(hash))
      return (await node.store.placeOf(fromHex(hash)))!.acceptedAt
    }

    async function deadLetter(id: string) {
      await until(async () => (await node.store.rejections.find(id)) !== undefined)
      return node.store.rejections.find(id)
    }

    await t.test('the right redeemer unlocks funds of a script', async (t) => {
      const output = await locked(wants42)
      const { hash, cborHex } = unlock(config, output, 42n, enough, collateral)
      const evaluation = await ask(`${node.url}/evaluate`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: cborHex,
      })
      const [{ used }] = JSON.parse(evaluation.body).redeemers
      await client.submit(cborHex)
      await until(() => arrived(hash))
      const explored = JSON.parse((await client.get(`/explorer/tx/${hash}`)).body)
      t.match(explored.redeemers, [{ memory: '1000000', steps: '1000000000', used }])
      const { body } = await client.get(`/utxos?address=${collateral.wallet.bech32}`)
      t.match(body, `825820${hash}00`)
    })

    await t.test(
      "a wrong redeemer makes a dead letter with the script's trace and leaves the funds locked",
      async (t) => {
        const output = await locked(wants42)
        const wrong = unlock(config, output, 7n, enough, collateral)
        const letter = await deadLetter(await client.submit(wrong.cborHex))
        t.match(letter, {
          code: 'ValidationTagMismatch',
          attempts: 1,
          details: [{ details: { failures: [{ logs: ['the redeemer must be 42'] }] } }],
        })
        t.notOk(await arrived(wrong.hash))
        const right = unlock(config, output, 42n, enough, collateral)
        await client.submit(right.cborHex)
        await until(() => arrived(right.hash))
      },
    )

    await t.test(
      'an endless script stops at its budget, and other transactions do not wait for it',
      async (t) => {
        const outputs = await Promise.all(Array.from({ length: 18 }, () => locked(endless)))
        const bombs = outputs.map((output) => unlock(config, output, 7n, most, collateral))
        const others = await Promise.all([0, 1, 2].map((at) => transferFrom(5, at)))

        // On a busy machine, one request after the other would take longer than the bombs.
        const submitted = [...bombs, ...others.map(({ transfer }) => transfer)]
        const ids = await Promise.all(submitted.map(({ cborHex }) => client.submit(cborHex)))
        const bombIds = ids.slice(0, bombs.length)
        const acceptedAt = await Promise.all(others.map(({ transfer }) => accepted(transfer.hash)))

        const rejectedAt: Date[] = []
        for (const id of bombIds) {
          const letter = await deadLetter(id)
          t.match(letter, {
            code: 'ValidationTagMismatch',
            attempts: 1,
            details: [{ details: { failures: [{ kind: 'BudgetExceeded' }] } }],
          })
          rejectedAt.push(letter!.rejectedAt)
        }
        t.ok(latest(acceptedAt) < latest(rejectedAt), 'the others are accepted before the last bomb ends')
        t.notOk(await arrived(bombs[0]!.hash))
      },
    )
  })
}
