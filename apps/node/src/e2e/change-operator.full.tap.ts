import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { ask, recordedLog, until } from '@ratatosk/test-kit/http'
import { pino } from 'pino'
import t from 'tap'
import { onServices } from '../test/backends.js'
import { devnetServer, devnetWallets } from '../test/forged-block.js'
import { initialised, runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfer.js'

t.setTimeout(300_000)

const services = await onServices()
const phrase = `${'abandon '.repeat(23)}art`
const quick = {
  MATURITY_WINDOW_MS: '4000',
  OPERATOR_TURN_MS: '10000',
  TAKEOVER_AFTER_MS: '2000',
  BLOCK_VALIDITY_MS: '3000',
  SEQUENCER_LEASE_MS: '2000',
}

/** As docs/maintenance.md has it. */
t.test(
  'an operator changes its phrase, and a standby touches no bond',
  { skip: services.skip },
  async (t) => {
    const layer1 = await devnetServer(t)
    const { port, walletOf } = devnetWallets(t, layer1.devnet)
    const { addressText: address } = keysFromSeedPhrase(phrase, { networkId: 0 })
    const outputs = Array.from({ length: 5 }, () => ({ address, lovelace: 1_000_000_000n }))
    await port.await((await walletOf(3).send({ outputs })).id)
    const environment = { ...(await services.place(t)), ...layer1.settings, ...quick }
    const first = await runNode(t, environment)
    await initialised(first.url)
    const { stream, records } = recordedLog()
    const log = pino({}, stream)
    const second = await runNode(t, { ...environment, OPERATOR_SEED_PHRASE: phrase }, { log })

    const change = async ({ url }: { readonly url: string }, name: string) => {
      const { status, body } = await ask(`${url}/operator/${name}`, { method: 'POST' })
      return { status, ...JSON.parse(body) }
    }
    /** Until the lease of the former is free. */
    const changed = async (node: { readonly url: string }, name: string) => {
      let answer: Awaited<ReturnType<typeof change>> | undefined
      const isDone = async () => {
        answer = await change(node, name)
        return answer.status === 200
      }
      await until(isDone, { what: `${name} at the new active node`, timeoutMs: 120_000 })
      return answer
    }
    const listed = async () =>
      JSON.parse((await ask(`${second.url}/operators`)).body).operators as readonly Record<string, string>[]

    const { operatorKey: old } = await change(first, 'register')
    for (const name of ['register', 'retire', 'release']) {
      const refused = await change(second, name)
      t.equal(refused.status, 409)
      t.match(
        refused.error,
        new RegExp(`stands by, with the operator [0-9a-f]{56}; the active one has ${old}`),
      )
    }
    t.same(
      (await listed()).map(({ operatorKey, activeUntil }) => [operatorKey, activeUntil]),
      [[old, undefined]],
    )

    const isWarned = () =>
      records().some(({ msg }) => /^This node stands by, and .* not in the registry/.test(String(msg)))
    await until(async () => isWarned(), { what: 'the log of the standby says it' })

    const { operatorKey: retired, releaseAt } = await change(first, 'retire')
    t.equal(retired, old)
    await first.close()
    const { operatorKey: now } = await changed(second, 'register')
    t.not(now, old)
    const { transfer } = await transferFrom(5, 0)
    t.equal((await submit(second.url, transfer.cborHex)).status, 200)
    await until(async () => JSON.parse((await ask(`${second.url}/commit`)).body).transactions === 1, {
      what: 'the new operator commits',
      timeoutMs: 120_000,
    })

    const again = await runNode(t, environment)
    t.match((await change(again, 'release')).error, 'stands by')
    await second.close()
    await until(async () => Date.now() > Date.parse(releaseAt))
    const released = await changed(again, 'release')
    t.match(released, { operatorKey: old, bond: /^[1-9]/ })
  },
)
