import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { onServices } from '../test/backends.js'
import { manyTransfers } from '../test/many-transfers.js'
import { proxyMissing, proxyPauseMs, proxyProgram, startProxy } from '../test/proxy.js'
import { splitDeployment } from '../test/split-deployment.js'
import { steadily } from '../test/steady-requests.js'

const readRate = Number(process.env.RATATOSK_READS ?? 80)
const submissionRate = Number(process.env.RATATOSK_SUBMISSIONS ?? 40)
const seconds = Number(process.env.RATATOSK_ROLLING_SECONDS ?? 120)
const patient = { timeoutMs: 300_000 }

t.setTimeout((900 + 3 * seconds) * 1000)

const services = await onServices()

const holders: Readonly<Record<string, readonly string[]>> = {
  sequencer: ['OPERATOR_SEED_PHRASE_FILE'],
  watcher: ['WATCHER_SEED_PHRASE_FILE'],
}

t.test(
  'no request fails and nothing is lost while each process of compose.yaml restarts behind a proxy',
  { skip: services.skip || proxyMissing },
  async (t) => {
    const { genesisFile, transfers } = await manyTransfers(t, submissionRate * seconds)
    const processes = await splitDeployment(t, { place: await services.place(t), genesisFile })
    const at = (name: string) =>
      processes.filter(({ service }) => service === name).map(({ address }) => address)
    const of = ['api', 'reader', 'processor', 'sequencer', 'archivist', 'watcher'].map(
      (name) => at(name).length,
    )
    t.same(of, [2, 2, 1, 1, 1, 1])
    const holdKeysInOrder = () => {
      for (const { service, keys } of processes) t.same(keys(), holders[service] ?? [], `keys of ${service}`)
    }
    holdKeysInOrder()
    const url = await startProxy(t, { api: at('api'), reader: at('reader') })
    const agent = new Agent({ keepAlive: true, maxSockets: 64 })
    t.teardown(() => agent.destroy())
    const get = async (path: string) => JSON.parse((await ask(`${url}${path}`, { agent })).body)

    const first = transfers[0]?.hash
    const paths = [
      '/network',
      '/health/live',
      '/l2/blockfrost/api/v0/genesis',
      '/l2/blockfrost/api/v0/blocks/latest',
      `/tx/status?tx_hash=${first}`,
      '/explorer/overview',
      '/explorer/blocks?limit=5',
      '/l2/kupo/matches?unspent&created_after=1000000000',
    ]
    const reads = steadily(readRate, (n) => ask(url + paths[n % paths.length], { agent }))
    const left = new Set<string>()
    const submissions = steadily(submissionRate, async (n) => {
      // A slow machine takes longer: then they are submitted again, which changes nothing.
      const { cborHex = '', hash = '' } = transfers[n % transfers.length] ?? {}
      const headers = { 'content-type': 'text/plain' }
      const answer = await ask(`${url}/submit`, { method: 'POST', headers, body: cborHex, agent })
      if (answer.status === 200) left.add(hash)
      return answer
    })
    const end = performance.now() + seconds * 1000
    for (const { service, restart } of processes) {
      t.equal(await restart(), 0, `${service} ends`)
      await sleep(proxyPauseMs)
    }
    await sleep(Math.max(0, end - performance.now()))
    const carried = await Promise.all([reads.stop(), submissions.stop()])
    t.same(reads.failures, [])
    t.same(submissions.failures, [])
    for (const [n, { sent, perSecond, slowestMs }] of carried.entries())
      t.comment(
        `${proxyProgram}: ${sent} ${n === 0 ? 'reads' : 'submissions'}, ${perSecond.toFixed(0)} a second, ` +
          `the slowest ${slowestMs.toFixed(0)} ms`,
      )

    let newest = 0
    await until(
      async () => {
        for (const hashes of chunks([...left], 100)) {
          const { statuses } = await get(`/tx/statuses?tx_hash=${hashes.join()}`)
          for (const { txHash, status, block } of statuses) {
            if (!/^(committed|mature|merged)$/.test(status)) continue
            newest = Math.max(newest, block.height)
            left.delete(txHash)
          }
        }
        return left.size === 0
      },
      { what: 'every transaction that was answered 200 is in a block', ...patient },
    )
    for (const address of [...at('archivist'), ...at('watcher')]) {
      const block = `http://${address}/block/${newest}`
      await until(async () => (await ask(block)).status === 200, {
        what: `${address} has all blocks`,
        ...patient,
      })
    }
    const { verdicts } = JSON.parse((await ask(`http://${at('watcher')[0]}/verdicts`)).body)
    t.same(
      verdicts.filter(({ state }: { state: string }) => state !== 'valid'),
      [],
      'the watcher found nothing against an honest operator',
    )
    holdKeysInOrder()
  },
)

function chunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) =>
    items.slice(n * size, (n + 1) * size),
  )
}
