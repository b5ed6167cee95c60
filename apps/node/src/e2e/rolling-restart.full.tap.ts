import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { freePort } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { onServices, type Placement, temporaryDirectory } from '../test/backends.js'
import { exampleSettings, nodeServices, passwords, readShipped } from '../test/compose.js'
import { watcherPhrase } from '../test/node.js'
import { type NodeProcess, spawnNode } from '../test/node-process.js'
import { manyTransfers } from '../test/transfer.js'

/** Earlier versions of Caddy repeat a request without its body. */
const hasCaddy = /^v?2\.(1[1-9]|[2-9]\d)\./.test(versionOf('caddy', 'version'))
const hasNginx = /nginx\/1\./.test(versionOf('nginx', '-v'))

/** The program that {@link startProxy} runs. */
const proxyProgram = hasCaddy ? 'caddy' : 'nginx'
const proxyMissing = hasCaddy || hasNginx ? false : 'neither Caddy 2.11 nor nginx is installed'

/** After so long, the proxy asks a node again that refused a connection. */
const proxyPauseMs = hasCaddy ? 6000 : 11_000

/** Hosts with ports, by the name that the Caddyfile has for them. */
type Upstreams = Readonly<Record<'api' | 'reader', readonly string[]>>

function versionOf(program: string, argument: string): string {
  const { stdout, stderr } = spawnSync(program, [argument], { encoding: 'utf8' })
  return `${stdout ?? ''}${stderr ?? ''}`
}

/** The shipped file, in which the names of containers are replaced by processes here. */
const caddyFor = (upstreams: Upstreams) =>
  readShipped('ops/Caddyfile').replace(
    /dynamic a \{\s*name (api|reader)[^}]*\}/g,
    (_, role: keyof Upstreams) => ['to', ...upstreams[role]].join(' '),
  )

const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

/** As the Caddyfile. */
const nginxFor = ({ api, reader }: Upstreams, port: string, directory: string) => `
daemon off; pid ${directory}/pid; error_log stderr; user root; events {}
http {
  access_log off; client_max_body_size 1m;
  ${temporary.map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')}
  upstream api { ${api.map((each) => `server ${each} max_fails=0;`).join(' ')} keepalive 16; }
  upstream reader { ${reader.map((each) => `server ${each} max_fails=0;`).join(' ')} keepalive 16; }
  server {
    listen 127.0.0.1:${port}; proxy_http_version 1.1;
    proxy_set_header Connection ""; proxy_set_header X-Forwarded-For $remote_addr;
    proxy_next_upstream error timeout non_idempotent;
    location = /submit { proxy_pass http://api; }
    location / { proxy_pass http://reader; }
  }
}`

/** Starts Caddy, or nginx where that is missing; returns its address. */
async function startProxy(t: Test, upstreams: Upstreams): Promise<string> {
  const directory = await temporaryDirectory(t)
  const [file, port] = [join(directory, 'configuration'), await freePort()]
  writeFileSync(file, hasCaddy ? caddyFor(upstreams) : nginxFor(upstreams, port, directory))
  const args = hasCaddy ? ['run', '--config', file, '--adapter', 'caddyfile'] : ['-c', file, '-p', directory]
  const child = spawn(proxyProgram, args, {
    stdio: 'ignore',
    env: { PATH: process.env.PATH, HOME: directory, SITE_ADDRESS: `http://127.0.0.1:${port}` },
  })
  t.teardown(async () => {
    child.kill()
    await once(child, 'close')
  })
  const url = `http://127.0.0.1:${port}`
  await until(async () => (await ask(`${url}/health/live`).catch(() => undefined))?.status === 200)
  return url
}

const operatorPhrase = `${'test '.repeat(23)}sauce`

/** A process of a service of compose.yaml. */
interface ServiceProcess {
  readonly service: string
  /** Host and port. */
  readonly address: string
  /** The names of the variables with keys in the environment of the process. */
  keys(): readonly string[]
  isReady(): Promise<boolean>
  /** Ends it in order and starts it again; waits until it is ready. @returns the exit code */
  restart(): Promise<number | NodeJS.Signals>
}

/**
 * Starts the nodes of compose.yaml as local processes, with the environment that it gives them: operator and
 * watcher have wallets of their own, which are in files.
 */
async function splitDeployment(
  t: Test,
  { place, genesisFile, settings = {} }: { place: Placement; genesisFile: string; settings?: Placement },
): Promise<readonly ServiceProcess[]> {
  const [sequencerPort, readerPort, devnetPort] = [await freePort(), await freePort(), await freePort()]
  const ports: Readonly<Record<string, string[]>> = { sequencer: [sequencerPort], reader: [readerPort] }
  const directory = await temporaryDirectory(t)
  const phraseFile = async (name: string, phrase: string) => {
    await writeFile(join(directory, name), phrase)
    return join(directory, name)
  }
  const addressOf = (phrase: string) => keysFromSeedPhrase(phrase, { networkId: 0 }).addressText
  const services = nodeServices({
    ...exampleSettings(),
    ...passwords,
    OPERATOR_SEED_PHRASE_FILE: await phraseFile('operator', operatorPhrase),
    OPERATOR_ADDRESS: addressOf(operatorPhrase),
    WATCHER_SEED_PHRASE_FILE: await phraseFile('watcher', watcherPhrase),
  }).filter(([name]) => name !== 'tools')

  /** With the processes here in place of other containers. */
  const local = (value: string) =>
    value
      .replace('sequencer-inner:3000', `127.0.0.1:${sequencerPort}`)
      .replace('reader:3000', `127.0.0.1:${readerPort}`)
      .replace('sequencer-inner:1337', `127.0.0.1:${devnetPort}`)
      .replace('sequencer-inner', '127.0.0.1')

  async function start(service: string, given: Placement): Promise<ServiceProcess> {
    const { DATA_DIR: _, ...shared } = place
    const environment = {
      ...Object.fromEntries(Object.entries(given).map(([name, value]) => [name, local(value)])),
      ...('DATABASE_URL' in given ? shared : {}),
      PORT: ports[service]?.shift() ?? (await freePort()),
      ...(service === 'sequencer' && { DEVNET_PORT: devnetPort }),
      DATA_DIR: await temporaryDirectory(t),
      GENESIS_FILE: genesisFile,
      ...settings,
    }
    let node: NodeProcess = await spawnNode(t, environment)
    const isReady = async () => (await ask(`${node.url}/health/ready`)).status === 200
    return {
      service,
      address: `127.0.0.1:${environment.PORT}`,
      keys: () =>
        readFileSync(`/proc/${node.pid}/environ`, 'utf8')
          .split('\0')
          .map((each) => each.split('='))
          .filter(([name = '', value]) => /SEED_PHRASE/.test(name) && value)
          .map(([name = '']) => name),
      isReady,
      async restart() {
        const ended = await node.stop('SIGTERM')
        node = await spawnNode(t, environment)
        await until(isReady, { what: `${service} is ready again` })
        return ended
      },
    }
  }

  const processes: ServiceProcess[] = []
  const isSequencer = ([name]: readonly [string, unknown]) => name === 'sequencer'
  for (const [name, { environment, deploy }] of services.toSorted(
    (a, b) => +isSequencer(b) - +isSequencer(a),
  )) {
    for (let n = 0; n < (deploy?.replicas ?? 1); n++) processes.push(await start(name, environment))
    if (name !== 'sequencer') continue
    for (const phrase of [operatorPhrase, watcherPhrase])
      await topUp(`http://127.0.0.1:${sequencerPort}`, addressOf(phrase))
  }
  for (const each of processes) await until(each.isReady, { what: `${each.service} is ready` })
  return processes
}

/** Gives an address what a wallet of a node needs. */
async function topUp(sequencer: string, address: string): Promise<void> {
  for (let n = 0; n < 4; n++) {
    const { status, body } = await ask(`${sequencer}/devnet/addresses/topup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${passwords.OPERATOR_TOKEN}` },
      body: JSON.stringify({ address, adaAmount: 1000 }),
    })
    if (status !== 200) throw new Error(`The devnet did not pay ${address}: ${status} ${body}`)
  }
}

type Request = (n: number) => Promise<{ readonly status: number; readonly body: string }>

/** Sends requests at a rate until it is stopped; every answer must be a 200. */
function steadily(perSecond: number, request: Request) {
  const failures: string[] = []
  const open = new Set<Promise<void>>()
  const begun = performance.now()
  let sent = 0
  let slowestMs = 0
  let isOver = false

  async function send(n: number): Promise<void> {
    const asked = performance.now()
    try {
      const { status, body } = await request(n)
      if (status !== 200) failures.push(`${n}: ${status} ${body}`)
    } catch (error) {
      failures.push(`${n}: ${error}`)
    }
    slowestMs = Math.max(slowestMs, performance.now() - asked)
  }

  const running = (async () => {
    while (!isOver) {
      await sleep(Math.max(1, begun + (sent * 1000) / perSecond - performance.now()))
      for (const due = ((performance.now() - begun) * perSecond) / 1000; sent < due && !isOver; ) {
        const answered: Promise<void> = send(sent++).then(() => void open.delete(answered))
        open.add(answered)
      }
    }
  })()
  return {
    failures,
    sent: () => sent,
    /** Waits for what was sent. @returns what the machine has carried, to compare with the wanted rate */
    async stop() {
      isOver = true
      await running
      await Promise.all(open)
      return { sent, perSecond: (sent * 1000) / (performance.now() - begun), slowestMs }
    },
  }
}

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
